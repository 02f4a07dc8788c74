(* The strict automaton as given by its file: an ordered list of rules, accepting symbols, and a table of the viable
   stacks (automaton/lr.rs, oracle.rs); with a proof that the elements of automaton/suffixes.rs and reach.rs carry
   enough information about a stack to make the same decisions. *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach Echostack.Memory Echostack.Machine Echostack.Agreement Echostack.Check.

(* Rule. The suffix has its topmost symbol first. [wanted] is the lookahead; [None] matches any. *)
Record rule := { anchored : bool; suffix : list symbol; wanted : option lookahead; pops : nat; pushes : symbol }.

Record rules := {
  rule_list : list rule;
  accepting : list symbol;
  rows : list (list nat);   (* Viability: for each state and symbol, the state of the stack after pushing that symbol *)
  viable : list bool
}.

(* ** The rules on a stack *)
Section Prefix.
  Context {X : Type}.
  Variable dec : forall a b : X, {a = b} + {a <> b}.

  Definition prefix (a b : list X) : Prop := exists c, b = a ++ c.

  Fixpoint is_prefix (a b : list X) : bool :=
    match a, b with
    | [], _ => true
    | x :: a, y :: b => if dec x y then is_prefix a b else false
    | _, _ => false
    end.

  Lemma is_prefix_spec a : forall b, is_prefix a b = true <-> prefix a b.
  Proof.
    induction a as [|x a IH]; intros [|y b]; simpl.
    - split; [exists []; reflexivity | reflexivity].
    - split; [exists (y :: b); reflexivity | reflexivity].
    - split; [discriminate | intros (c & E); discriminate].
    - destruct (dec x y) as [->|N].
      + rewrite IH. split; intros (c & E); exists c; [now rewrite E | now injection E].
      + split; [discriminate | intros (c & E); injection E; congruence].
  Qed.

  Lemma prefix_trans a b c : prefix a b -> prefix b c -> prefix a c.
  Proof. intros (x & ->) (y & ->). exists (x ++ y). symmetry. apply app_assoc. Qed.

  Lemma prefix_shorter w : forall a b, prefix a w -> prefix b w -> length a <= length b -> prefix a b.
  Proof.
    induction w as [|x w IH]; intros [|y a] [|z b] (c & Ea) (d & Eb) L; simpl in *; try lia; try discriminate;
      try (eexists; reflexivity).
    injection Ea as -> Ea. injection Eb as <- Eb.
    destruct (IH a b) as (e & ->); [exists c; exact Ea | exists d; exact Eb | lia | exists e; reflexivity].
  Qed.

  (* The longest prefix of a list with a property that the empty list has. *)
  Variable f : list X -> bool.

  Fixpoint longest_to (w : list X) (n : nat) : list X :=
    match n with 0 => [] | S n' => if f (firstn n w) then firstn n w else longest_to w n' end.
  Definition longest (w : list X) : list X := longest_to w (length w).

  Definition is_longest (w n : list X) : Prop :=
    prefix n w /\ forall m, prefix m w -> f m = true -> length m <= length n.

  Lemma longest_spec w : is_longest w (longest w).
  Proof.
    unfold longest.
    assert (H : forall n, prefix (longest_to w n) w
      /\ forall m, prefix m w -> length m <= n -> f m = true -> length m <= length (longest_to w n)).
    { induction n as [|n (P & Most)]; [split; [exists w; reflexivity | intros; simpl; lia]|].
      cbn [longest_to]. destruct (f (firstn (S n) w)) eqn:F.
      - split; [exists (skipn (S n) w); symmetry; apply firstn_skipn|]. intros m (c & ->) L _.
        rewrite firstn_length, app_length. lia.
      - split; [exact P|]. intros m (c & E) L Fm. apply Most; [exists c; exact E | | exact Fm].
        destruct (Nat.eq_dec (length m) (S n)) as [E'|]; [|lia].
        rewrite E, <- E', firstn_app, Nat.sub_diag, firstn_O, app_nil_r, firstn_all in F. congruence. }
    destruct (H (length w)) as (P & Most). split; [exact P|]. intros m Pm. apply Most; [exact Pm|].
    destruct Pm as (c & ->). rewrite app_length. lia.
  Qed.

  (* As in the Aho-Corasick algorithm, it is enough to know the longest such prefix of the rest of the list. *)
  Hypothesis tails : forall x m, f (x :: m) = true -> f m = true.

  Lemma longest_cons x w n : is_longest w n -> is_longest (x :: w) (longest (x :: n)).
  Proof.
    intros (P & Most). destruct (longest_spec (x :: n)) as (P' & Most'). split.
    - apply (prefix_trans _ _ _ P'). destruct P as (c & ->). exists c. reflexivity.
    - intros [|y m] (c & E) F; [simpl; lia|]. injection E as <- E.
      apply Most'; [|exact F]. assert (Pm : prefix m w) by (exists c; exact E).
      destruct (prefix_shorter w m n Pm P (Most m Pm (tails _ _ F))) as (d & ->). exists d. reflexivity.
  Qed.

  Lemma longest_decides w n m : is_longest w n -> f m = true -> prefix m w <-> prefix m n.
  Proof.
    intros (P & Most) F. split; intro Pm; [apply (prefix_shorter w); auto | exact (prefix_trans _ _ _ Pm P)].
  Qed.
End Prefix.

Definition looks (r : rule) (l : lookahead) : bool :=
  match wanted r with None => true | Some w => if lookahead_dec w l then true else false end.

(* Rule::matches *)
Definition matches (r : rule) (st : list symbol) (l : lookahead) : bool :=
  looks r l && is_prefix Nat.eq_dec (suffix r) st && (negb (anchored r) || (length st =? length (suffix r))).

Section Rules.
  Variable P : rules.

  Definition does (r : rule) : nat * symbol := (pops r, pushes r).

  (* Automaton::rule, Automaton::accepts_stack, and Viability::push and is_viable *)
  Definition first_rule (st : list symbol) (l : lookahead) : option (nat * symbol) :=
    option_map does (find (fun r => matches r st l) (rule_list P)).
  Definition accepts_stack (st : list symbol) : bool :=
    match st with [s] => existsb (Nat.eqb s) (accepting P) | _ => false end.
  Definition follow (v : nat) (s : symbol) : nat := nth s (nth v (rows P) []) 0.
  Fixpoint viability (st : list symbol) : nat :=
    match st with [] => 0 | s :: st => follow (viability st) s end.
  Definition may_shift (st : list symbol) (t : symbol) : bool := nth (viability (t :: st)) (viable P) false.

  (* Oracle::strict *)
  Definition strict_oracle : engine := stack_engine first_rule accepts_stack may_shift.

  (* ** Elements: the bottom of the stack counts as a symbol, [None] *)
  Definition marked (st : list symbol) : list (option symbol) := map Some st ++ [None].
  Definition pattern (r : rule) : list (option symbol) := map Some (suffix r) ++ if anchored r then [None] else [].
  Definition accepted (a : symbol) : list (option symbol) := [Some a; None].

  Fixpoint tails_of (w : list (option symbol)) : list (list (option symbol)) :=
    w :: match w with [] => [] | _ :: w => tails_of w end.

  Definition nodes : list (list (option symbol)) :=
    flat_map tails_of ([None] :: map pattern (rule_list P) ++ map accepted (accepting P)).

  Definition is_node (w : list (option symbol)) : bool :=
    if in_dec (list_eq_dec lookahead_dec) w nodes then true else false.

  (* Element: a symbol, a node of Suffixes, and a state of Viability. *)
  Record known := { symbol_there : option symbol; node : list (option symbol); vstate : nat }.

  Definition known_dec (a b : known) : {a = b} + {a <> b}.
  Proof. decide equality; [apply Nat.eq_dec | apply (list_eq_dec lookahead_dec) | apply lookahead_dec]. Defined.

  Definition strict : automaton := {|
    element := known;
    element_dec := known_dec;
    bottom := {| symbol_there := None; node := [None]; vstate := 0 |};
    add e s :=
      {| symbol_there := Some s; node := longest is_node (Some s :: node e); vstate := follow (vstate e) s |};
    symbol_of := symbol_there;
    action e l :=
      option_map does (find (fun r => looks r l && is_prefix lookahead_dec (pattern r) (node e)) (rule_list P));
    accepts e := existsb (fun a => is_prefix lookahead_dec (accepted a) (node e)) (accepting P);
    shiftable e t := nth (follow (vstate e) t) (viable P) false
  |}.

  Lemma tails_self w : In w (tails_of w).
  Proof. destruct w; left; reflexivity. Qed.

  Lemma is_node_spec w : is_node w = true <-> In w nodes.
  Proof. unfold is_node. destruct (in_dec _ _ _); split; auto; discriminate || contradiction. Qed.

  Lemma is_node_tail x m : is_node (x :: m) = true -> is_node m = true.
  Proof.
    rewrite !is_node_spec. unfold nodes. rewrite !in_flat_map. intros (w & W & I). exists w. split; [exact W|]. clear W.
    induction w as [|y w IH]; simpl in *; [destruct I as [I|[]]; discriminate|].
    destruct I as [I|I]; [injection I as _ ->; right; apply tails_self | right; auto].
  Qed.

  Lemma pattern_node p :
    In p ([None] :: map pattern (rule_list P) ++ map accepted (accepting P)) -> is_node p = true.
  Proof. intro I. apply is_node_spec, in_flat_map. exists p. split; [exact I | apply tails_self]. Qed.

  Lemma top_node st : is_longest is_node (marked st) (node (top strict st)).
  Proof.
    induction st as [|s st IH]; [|exact (longest_cons _ is_node_tail (Some s) _ _ IH)].
    split; [exists []; reflexivity|]. intros m (c & E) _. simpl. change (length m <= length [None : option symbol]).
    unfold marked in E. simpl in E. rewrite E, app_length. lia.
  Qed.

  Lemma top_vstate st : vstate (top strict st) = viability st.
  Proof. induction st as [|s st IH]; simpl; [reflexivity | now rewrite IH]. Qed.

  Lemma node_decides st p : In p (map pattern (rule_list P) ++ map accepted (accepting P)) ->
    is_prefix lookahead_dec p (node (top strict st)) = is_prefix lookahead_dec p (marked st).
  Proof.
    intro I. apply eq_true_iff_eq. rewrite !is_prefix_spec. symmetry.
    apply (longest_decides is_node); [apply top_node | apply pattern_node; right; exact I].
  Qed.

  Lemma matches_pattern r st l : matches r st l = looks r l && is_prefix lookahead_dec (pattern r) (marked st).
  Proof.
    unfold matches, pattern, marked. rewrite <- andb_assoc. f_equal. generalize (suffix r) as p.
    induction st as [|s st IH]; intros [|x p]; simpl.
    - destruct (anchored r); reflexivity.
    - destruct (anchored r), p; reflexivity.
    - destruct (anchored r); reflexivity.
    - destruct (Nat.eq_dec x s) as [->|N].
      + destruct (lookahead_dec (Some s) (Some s)) as [_|N]; [apply IH | contradiction].
      + destruct (lookahead_dec (Some x) (Some s)) as [E|_]; [congruence | reflexivity].
  Qed.

  Lemma find_ext {X} (f g : X -> bool) l : (forall x, In x l -> f x = g x) -> find f l = find g l.
  Proof.
    induction l as [|x l IH]; intro E; simpl; [reflexivity|].
    rewrite (E x (or_introl eq_refl)), IH; [reflexivity | intros; apply E; right; assumption].
  Qed.

  Lemma strict_action st l : action strict (top strict st) l = first_rule st l.
  Proof.
    unfold first_rule. cbn [action strict]. f_equal. apply find_ext. intros r I.
    rewrite matches_pattern, node_decides; auto.
    apply in_or_app. left. apply in_map, I.
  Qed.

  Lemma strict_accepts st : accepts strict (top strict st) = accepts_stack st.
  Proof.
    cbn [accepts strict]. apply eq_true_iff_eq. rewrite existsb_exists. unfold accepts_stack. split.
    - intros (a & I & H). rewrite node_decides in H by (apply in_or_app; right; apply in_map, I).
      apply is_prefix_spec in H. destruct H as (c & E). destruct st as [|s [|s' st]]; try discriminate.
      injection E as -> _. apply existsb_exists. exists a. split; [exact I | apply Nat.eqb_refl].
    - destruct st as [|s [|s' st]]; try discriminate. intro H. apply existsb_exists in H. destruct H as (a & I & H).
      apply Nat.eqb_eq in H. subst a. exists s. split; [exact I|].
      rewrite node_decides by (apply in_or_app; right; apply in_map, I). apply is_prefix_spec. exists []. reflexivity.
  Qed.

  Lemma strict_shifts st t : shiftable strict (top strict st) t = may_shift st t.
  Proof. unfold may_shift. cbn [shiftable strict viability]. now rewrite top_vstate. Qed.

  Lemma strict_lawful symbols : forallb (fun r => pushes r <? symbols) (rule_list P) = true -> lawful symbols strict.
  Proof.
    intro All. constructor; [reflexivity | reflexivity|]. intros e l count s. cbn [action strict].
    destruct (find _ (rule_list P)) as [r|] eqn:F; [|discriminate]. intro E. injection E as <- <-.
    apply find_some in F. rewrite forallb_forall in All. apply Nat.ltb_lt, All, F.
  Qed.

  Lemma oracle_is_strict terminals : simulation terminals (oracle strict) strict_oracle eq (fun _ => eq) (fun _ => eq).
  Proof.
    constructor; try reflexivity; intros; subst; try reflexivity.
    - exact (f_equal reduction_of (strict_action _ _)).
    - apply strict_accepts.
    - destruct b as [st [l|]]; [apply strict_shifts | reflexivity].
  Qed.
End Rules.

(* ** The lists of a certificate: elements by their numbers, as reconstructed by [check_each] *)
Definition found_again (A : automaton) (list : list (nat * symbol)) : Datatypes.list (element A) :=
  fold_left (fun known '(on, s) => known ++ [add A (nth on known (bottom A)) s]) list [bottom A].

Definition certificate_of (A : automaton) (elements : list (nat * symbol)) (heads : list (control * nat * place))
    (unders : list (place * nat * place)) (cells : list cell) : certificate (element A) :=
  let known := found_again A elements in
  let element e := nth e known (bottom A) in {|
    its_heads := map (fun '(c, e, p) => Head c (element e) p) heads;
    its_unders := map (fun '(p, e, q) => Under p (element e) q) unders;
    its_cells := cells
  |}.

Theorem rules_agree :
  forall (terminals symbols tokens : nat) (P : rules) (C : certificate known) (M : machine) (leaves : list leaf)
    (any_stack : state M -> Prop) (any_input : seen M -> Prop),
  terminals <= symbols ->
  forallb (fun r => pushes r <? symbols) (rule_list P) = true ->
  check terminals (strict P) (memory_of (S terminals) tokens) C (readouts M) = Some leaves ->
  invariant M terminals symbols any_stack any_input ->
  Forall (sure M any_stack any_input) leaves ->
  forall word : list symbol,
  (forall n, configuration_after terminals (runner M) n word = configuration_after terminals (strict_oracle P) n word)
  /\ (forall L : limits, judge terminals (runner M) L word = judge terminals (strict_oracle P) L word).
Proof.
  intros terminals symbols tokens P C M leaves any_stack any_input Enough Pushed Checked Inv Sure word.
  pose proof (strict_lawful P symbols Pushed) as Law.
  destruct (certificate_agrees _ _ _ (strict P) C _ _ _ _ Enough Law Checked Inv Sure word) as [Steps Judged].
  pose proof (oracle_is_strict P terminals) as Same.
  split; intros; [rewrite Steps; apply (configurations_same _ _ _ _ _ _ Same)
    | rewrite Judged; apply (judge_same _ _ _ _ _ _ Same)].
Qed.
