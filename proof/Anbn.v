(* The certificate of a^n b^n, checked by computation. Its margins are facts about floating point and remain a
   hypothesis. *)

Require Import List Arith Bool.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach Echostack.Memory Echostack.Machine Echostack.Agreement.
Require Import Echostack.Check Echostack.Rules Echostack.AnbnData.

Definition checked (C : certificate known) : option (list leaf) :=
  check terminals (strict the_rules) (memory_of (S terminals) tokens) C asked.

(* The decisions that must be certain. `certify --check --cells` shows them with their margins. *)
Definition leaves : list leaf := Eval vm_compute in match checked the_certificate with Some all => all | None => [] end.

Theorem certificate_is_checked : checked the_certificate = Some leaves.
Proof. vm_cast_no_check (eq_refl (Some leaves)). Qed.

Theorem anbn_agrees :
  forall (M : machine) (any_stack : state M -> Prop) (any_input : seen M -> Prop),
  readouts M = asked ->
  invariant M terminals symbols any_stack any_input ->
  Forall (sure M any_stack any_input) leaves ->
  forall word : list symbol,
  (forall n, configuration_after terminals (runner M) n word
    = configuration_after terminals (strict_oracle the_rules) n word)
  /\ (forall L : limits, judge terminals (runner M) L word = judge terminals (strict_oracle the_rules) L word).
Proof.
  intros M any_stack any_input Asked. apply (rules_agree terminals symbols tokens the_rules the_certificate M leaves).
  - apply Nat.leb_le. reflexivity.
  - reflexivity.
  - rewrite Asked. exact certificate_is_checked.
Qed.

(* ** The check can fail: it refuses the certificate if any head, under or cell is missing *)
Fixpoint without_one {X} (l : list X) : list (list X) :=
  match l with [] => [] | x :: l => l :: map (cons x) (without_one l) end.

Definition damaged : list (certificate known) :=
  let make := certificate_of (strict the_rules) elements in
  map (fun heads => make heads unders cells) (without_one heads)
  ++ map (fun unders => make heads unders cells) (without_one unders)
  ++ map (fun cells => make heads unders cells) (without_one cells).

Example nothing_may_be_missing :
  forallb (fun C => match checked C with Some _ => false | None => true end) damaged = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

(* ** The hypotheses are satisfiable: a machine whose state is the stack itself *)
Definition by_hand : machine := {|
  seen := lookahead;
  state := list symbol;
  input_zero := None;
  stack_zero := [];
  stack_step st s := s :: st;
  sight := SymbolView (fun l => l);
  act_readout_of := Separate
    (fun _ st => match st with 1 :: _ => 3 | _ => 0 end)
    (fun l st => match l, st with _, 1 :: _ | Some 1, 0 :: _ => Some 2 | _, _ => None end);
  shift_readout l st := match l, st with Some 0, ([] | 0 :: _) | Some 1, 2 :: 0 :: _ => true | _, _ => false end;
  output_readout _ st := match st with [2] => true | _ => false end
|}.

Example by_hand_agrees L word :
  judge terminals (runner by_hand) L word = judge terminals (strict_oracle the_rules) L word.
Proof.
  apply (anbn_agrees by_hand (fun _ => True) (fun _ => True)); [reflexivity | split; auto |].
  repeat apply Forall_cons; try apply Forall_nil;
    intros h g Seen (start & Start & ->); unfold input_set in Seen; simpl in Seen, Start; subst; reflexivity.
Qed.

(* The words a a b b, a a b and a a b a, as in the example in oracle.rs. *)
Definition generous : limits := {| depth_limit := 100; actions_at d := 100 |}.

Example accepted : judge terminals (runner by_hand) generous [0; 0; 1; 1] = Accept.
Proof. reflexivity. Qed.
Example incomplete : judge terminals (runner by_hand) generous [0; 0; 1] = Incomplete [Some 1].
Proof. reflexivity. Qed.
Example rejected : judge terminals (runner by_hand) generous [0; 0; 1; 0] = Reject 3 [Some 1].
Proof. reflexivity. Qed.
