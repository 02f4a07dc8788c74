(* The strict automaton as a pushdown system (automaton/reach.rs), with a proof that a closed list of heads and unders
   contains every configuration that it reaches (certify/closed.rs). *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run.

Definition place := nat.     (* PlaceId *)
Definition history := nat.   (* History; 0 is the beginning of the word *)

(* Strict. An element is a symbol on the stack, or the bottom, together with everything that determines the automaton's
   behavior when it is on top. [add] is Strict::push, [action] is Suffixes::action. A rule always pushes a symbol. *)
Record automaton := {
  element : Type;
  element_dec : forall a b : element, {a = b} + {a <> b};
  bottom : element;
  add : element -> symbol -> element;
  symbol_of : element -> option symbol;
  action : element -> lookahead -> option (nat * symbol);
  accepts : element -> bool;
  shiftable : element -> symbol -> bool
}.

(* The bottom has no symbol, a pushed element has the symbol that was pushed, and rules push symbols of the alphabet. *)
Record lawful (symbols : nat) (A : automaton) : Prop := {
  bottom_symbol : symbol_of A (bottom A) = None;
  added_symbol : forall e s, symbol_of A (add A e s) = Some s;
  pushed_known : forall e l count s, action A e l = Some (count, s) -> s < symbols
}.

(* Recalled and Memory. *)
Inductive recalled := Beginning | Token (t : symbol) | Forgotten.

Record remembering := {
  remember : history -> symbol -> history;   (* Memory::push *)
  recall : history -> nat -> recalled        (* Memory::recall *)
}.

(* The memory after these tokens were read, last one first. *)
Fixpoint recent (R : remembering) (before : list symbol) : history :=
  match before with [] => 0 | t :: before => remember R (recent R before) t end.

Definition reduction_of (act : option (nat * symbol)) : reduction :=
  match act with Some (count, s) => {| pop := count; push := Some s |} | None => NONE end.

(* OracleStack: keeps the stack and the lookahead, and decides by the stack. *)
Definition stack_engine (act : list symbol -> lookahead -> option (nat * symbol)) (accept : list symbol -> bool)
    (may_shift : list symbol -> symbol -> bool) : engine := {|
  memory := list symbol * lookahead;
  fresh := ([], None);
  look l m := (fst m, l);
  decide m := reduction_of (act (fst m) (snd m));
  stack := fst;
  reduce r m := (match push r with Some s => [s] | None => [] end ++ skipn (pop r) (fst m), snd m);
  output m := accept (fst m);
  shifts m := match snd m with Some t => may_shift (fst m) t | None => false end;
  shift m := (match snd m with Some t => t :: fst m | None => fst m end, snd m)
|}.

(* ** Control states and moves *)
Inductive control :=
  | Next (past : history)
  | Reduce (past : history) (next : lookahead)
  | Popping (past : history) (next : lookahead) (more : nat) (then_push : symbol)
  | Settled (past : history) (next : lookahead).

Inductive move (E : Type) := Stay (c : control) | Pops (c : control) | Pushes (c : control) (e : E).
Arguments Stay {E}.
Arguments Pops {E}.
Arguments Pushes {E}.

(* The certificate's heads and unders. *)
Record head (E : Type) := Head { at_control : control; on_top : E; beneath : place }.
Record under (E : Type) := Under { above : place; lying : E; further : place }.
Arguments Head {E}.
Arguments at_control {E}.
Arguments on_top {E}.
Arguments beneath {E}.
Arguments Under {E}.
Arguments above {E}.
Arguments lying {E}.
Arguments further {E}.

Section Automaton.
  Variable terminals : nat.

  Definition of_terminals (before : list symbol) : Prop := Forall (fun t => is_terminal terminals t = true) before.

  (* Whatever is recalled is true. *)
  Definition truthful (R : remembering) : Prop :=
    forall before back, of_terminals before ->
      match recall R (recent R before) back with
      | Beginning => length before <= back
      | Token t => nth_error before back = Some t
      | Forgotten => True
      end.

  Variable A : automaton.
  Variable R : remembering.

  (* The topmost element of a stack. Each symbol yields a new element from the one below. *)
  Fixpoint top (st : list symbol) : element A :=
    match st with [] => bottom A | s :: beneath => add A (top beneath) s end.

  Definition oracle : engine :=
    stack_engine (fun st => action A (top st)) (fun st => accepts A (top st)) (fun st => shiftable A (top st)).

  Notation element := (element A).

  Definition popping (h : history) (l : lookahead) (more : nat) (s : symbol) (e : element) : list (move element) :=
    match more with
    | 0 => [Pushes (Reduce h l) (add A e s)]
    | S more => if element_dec A e (bottom A) then [] else [Pops (Popping h l more s)]
    end.

  (* System::moves *)
  Definition moves (c : control) (e : element) : list (move element) :=
    match c with
    | Next h => map (fun l => Stay (Reduce h l)) (lookaheads terminals)
    | Reduce h l =>
        match action A e l with
        | None => [Stay (Settled h l)]
        | Some (count, s) => popping h l count s e
        end
    | Popping h l more s => popping h l more s e
    | Settled h l =>
        match l with
        | Some t => if shiftable A e t then [Pushes (Next (remember R h t)) (add A e t)] else []
        | None => []
        end
    end.

  Variable heads : head element -> Prop.
  Variable unders : under element -> Prop.

  (* The lists contain everything that can follow a head. *)
  Definition follows (h : head element) (m : move element) : Prop :=
    match m with
    | Stay c => heads (Head c (on_top h) (beneath h))
    | Pops c => forall u, unders u -> above u = beneath h ->
        heads (Head c (lying u) (further u))
    | Pushes c e => exists p, heads (Head c e p)
        /\ unders (Under p (on_top h) (beneath h))
    end.

  (* The property that [closed] in check.rs verifies. *)
  Record closed : Prop := {
    closed_start : heads (Head (Next 0) (bottom A) 0);
    closed_moves : forall h, heads h -> forall m, In m (moves (at_control h) (on_top h)) -> follows h m
  }.

  (* The unders form a path from a place down through the elements of this stack. There is no requirement below the
     bottom. *)
  Fixpoint lies (p : place) (st : list symbol) : Prop :=
    exists q, unders (Under p (top st) q)
      /\ match st with [] => True | _ :: st => lies q st end.

  Definition lies_beneath (p : place) (st : list symbol) : Prop :=
    match st with [] => True | _ :: st => lies p st end.

  (* A head and the unders represent this control state with this stack. *)
  Definition reached (c : control) (st : list symbol) : Prop :=
    exists p, heads (Head c (top st) p) /\ lies_beneath p st.

  Variable symbols : nat.
  Hypothesis law : lawful symbols A.
  Hypothesis reach : closed.

  Lemma lies_intro p q st :
    unders (Under p (top st) q) -> lies_beneath q st -> lies p st.
  Proof. destruct st; intros U L; exists q; auto. Qed.

  Lemma lies_elim p st :
    lies p st -> exists q, unders (Under p (top st) q) /\ lies_beneath q st.
  Proof. destruct st; intros (q & U & L); exists q; auto. Qed.

  Lemma top_symbol st : symbol_of A (top st) = hd_error st.
  Proof. destruct st; [apply (bottom_symbol _ A law) | apply (added_symbol _ A law)]. Qed.

  Lemma top_not_bottom s st : top (s :: st) <> bottom A.
  Proof.
    intro E. pose proof (top_symbol (s :: st)) as T.
    rewrite E, (bottom_symbol _ A law) in T. discriminate.
  Qed.

  Lemma reached_move c st m : reached c st -> In m (moves c (top st)) ->
    match m with
    | Stay c' => reached c' st
    | Pops c' => forall s st', st = s :: st' -> reached c' st'
    | Pushes c' e => forall s, e = add A (top st) s -> reached c' (s :: st)
    end.
  Proof.
    intros (p & H & L) I. pose proof (closed_moves reach _ H m I) as F. destruct m as [c'|c'|c' e]; simpl in F.
    - exists p. auto.
    - intros s st' ->. simpl in L. apply lies_elim in L. destruct L as (q & U & L).
      exists q. split; [|exact L]. apply (F _ U). reflexivity.
    - intros s ->. destruct F as (q & H' & U). exists q. split; [exact H'|]. apply (lies_intro _ p); auto.
  Qed.

  Lemma reached_start : reached (Next 0) [].
  Proof. exists 0. split; [apply (closed_start reach) | exact I]. Qed.

  Lemma reached_look h l st : reached (Next h) st -> In l (lookaheads terminals) -> reached (Reduce h l) st.
  Proof.
    intros H I. apply (reached_move _ _ (Stay (Reduce h l)) H). apply in_map_iff. exists l. auto.
  Qed.

  Lemma reached_settled h l st : reached (Reduce h l) st -> action A (top st) l = None -> reached (Settled h l) st.
  Proof. intros H E. apply (reached_move _ _ (Stay (Settled h l)) H). simpl. rewrite E. left. reflexivity. Qed.

  Lemma reached_popping h l s count : forall c st,
    moves c (top st) = popping h l count s (top st) ->
    reached c st -> count <= length st -> reached (Reduce h l) (s :: skipn count st).
  Proof.
    induction count as [|count IH]; intros c st Moves H D.
    - refine (reached_move _ _ (Pushes (Reduce h l) _) H _ s eq_refl). rewrite Moves. left. reflexivity.
    - destruct st as [|t st]; [simpl in D; lia|].
      simpl skipn. apply IH with (c := Popping h l count s).
      + reflexivity.
      + refine (reached_move _ _ (Pops (Popping h l count s)) H _ t st eq_refl).
        rewrite Moves. unfold popping. destruct (element_dec A (top (t :: st)) (bottom A)) as [E|_].
        * contradiction (top_not_bottom t st E).
        * left. reflexivity.
      + simpl in D. lia.
  Qed.

  Lemma reached_reduced h l st count s :
    reached (Reduce h l) st -> action A (top st) l = Some (count, s) -> count <= length st ->
    reached (Reduce h l) (s :: skipn count st).
  Proof.
    intros H E D. refine (reached_popping h l s count (Reduce h l) st _ H D). simpl. rewrite E. reflexivity.
  Qed.

  Lemma reached_shifted h t st :
    reached (Settled h (Some t)) st -> shiftable A (top st) t = true -> reached (Next (remember R h t)) (t :: st).
  Proof.
    intros H S. refine (reached_move _ _ (Pushes (Next (remember R h t)) _) H _ t eq_refl).
    simpl. rewrite S. left. reflexivity.
  Qed.
End Automaton.
