(* The main theorem: a machine whose readouts are covered (certify/cells.rs) agrees with the automaton on every word. *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach Echostack.Machine.

(* Readout. If one readout decides both pop and push, it is [PopReadout]. *)
Inductive readout := PopReadout | PushReadout | OutputReadout | ShiftReadout.

(* Answer *)
Inductive answer := Act (r : reduction) | Outputs (accepting : bool) | Shifts (shifted : bool).

(* The answer that a readout must give for a control state and a topmost element; [None] if it is not consulted there
   (cells.rs, [answer]). *)
Definition right_answer (A : automaton) (r : readout) (c : control) (e : element A) : option answer :=
  match r, c with
  | (PopReadout | PushReadout), Reduce _ l => Some (Act (reduction_of (action A e l)))
  | OutputReadout, Settled _ _ => Some (Outputs (accepts A e))
  | ShiftReadout, Settled _ (Some t) => Some (Shifts (shiftable A e t))
  | _, _ => None
  end.

Definition past_and_next (c : control) : option (history * lookahead) :=
  match c with Reduce h l | Settled h l => Some (h, l) | _ => None end.

(* Machine::heads: the readouts of the machine. *)
Definition readouts (M : machine) : list readout :=
  match act_readout_of M with
  | Separate _ _ => [PopReadout; PushReadout; OutputReadout; ShiftReadout]
  | Joint _ => [PopReadout; OutputReadout; ShiftReadout]
  end.

(* The class that a readout decides for stands for this answer (Machine::class). *)
Definition gives (M : machine) (r : readout) (a : answer) (h : seen M) (g : state M) : Prop :=
  match r, a, act_readout_of M with
  | PopReadout, Act x, Separate p _ => p h g = pop x
  | PushReadout, Act x, Separate _ q => q h g = push x
  | PopReadout, Act x, Joint j => j h g = x
  | OutputReadout, Outputs b, _ => output_readout M h g = b
  | ShiftReadout, Shifts b, _ => shift_readout M h g = b
  | _, _, _ => False
  end.

(* The lower end of the examined part of the stack: above a topmost element, of which only the symbol is needed ([None]
   is the bottom), or at a place below some element. *)
Inductive spot := Above (s : option symbol) (p : place) | At (p : place).

(* Item: configurations with the same answer. *)
Record item := { answered : answer; spot_of : spot; past : history }.

Section Agreement.
  Variables terminals symbols : nat.
  Variable A : automaton.
  Variable R : remembering.
  Variable M : machine.
  Variable heads : head (element A) -> Prop.
  Variable unders : under (element A) -> Prop.
  Variable any_stack : state M -> Prop.
  Variable any_input : seen M -> Prop.

  (* ** The cells *)

  (* The symbols that can lie below a spot ([None] is the bottom), and the places below them (Cells::beneath). *)
  Definition under_spot (x : spot) (s : option symbol) (q : place) : Prop :=
    match x with
    | Above s' p => s = s' /\ q = p
    | At p => exists e, s = symbol_of A e /\ unders (Under p e q)
    end.

  (* The items that result from including this symbol in the stack suffix (Cells::split_stack). *)
  Definition sunk (items : item -> Prop) (s : option symbol) (j : item) : Prop :=
    exists i q, items i /\ under_spot (spot_of i) s q
      /\ j = {| answered := answered i; spot_of := At q; past := past i |}.

  (* The token [t] ([None]: the beginning of the word) is possible [back] tokens ago (Cells::split_input). *)
  Definition may_be (h : history) (back : nat) (t : option symbol) : Prop :=
    match recall R h back with Beginning => t = None | Token t' => t = Some t' | Forgotten => True end.

  Definition extended (k : looked) (t : option symbol) : looked :=
    match t with
    | Some t => {| next := next k; before := before k ++ [t]; whole_input := false |}
    | None => {| next := next k; before := before k; whole_input := true |}
    end.

  (* A decision is certain if the readout gives the answer on all states of the cell (Bounds::margin is above 0). *)
  Definition certain (r : readout) (a : answer) (st : list symbol) (whole : bool) (k : looked) : Prop :=
    forall h g, input_set M any_input k h -> stack_set M any_stack st whole g -> gives M r a h g.

  (* A finite tree of cells. At each leaf, one answer is right for all items and certain. *)
  Inductive covered (r : readout) : list symbol -> bool -> looked -> (item -> Prop) -> Prop :=
    | Empty : forall st whole k (items : item -> Prop), (forall i, ~ items i) -> covered r st whole k items
    | Proved : forall st whole k (items : item -> Prop) a,
        (forall i, items i -> answered i = a) -> certain r a st whole k -> covered r st whole k items
    | SplitInput : forall st whole k (items : item -> Prop), whole_input k = false ->
        (forall t, In t (None :: map Some (seq 0 terminals)) ->
          covered r st whole (extended k t) (fun i => items i /\ may_be (past i) (length (before k)) t)) ->
        covered r st whole k items
    | SplitStack : forall st k (items : item -> Prop),
        covered r st true k (sunk items None) ->
        (forall s, covered r (st ++ [s]) false k (sunk items (Some s))) ->
        covered r st false k items.

  (* The items of a readout when only the lookahead has been examined (Cells::new). *)
  Definition asked (r : readout) (l : lookahead) (i : item) : Prop :=
    exists h, heads h /\ past_and_next (at_control h) = Some (past i, l)
      /\ right_answer A r (at_control h) (on_top h) = Some (answered i)
      /\ spot_of i = Above (symbol_of A (on_top h)) (beneath h).

  Definition all_covered : Prop :=
    forall r l, In r (readouts M) -> In l (lookaheads terminals) ->
      covered r [] false {| next := l; before := []; whole_input := false |} (asked r l).

  (* ** Every readout is right in every reachable configuration *)
  Hypothesis law : lawful symbols A.
  Hypothesis enough_symbols : terminals <= symbols.
  Hypothesis memory_holds : truthful terminals R.
  Hypothesis inv : invariant M terminals symbols any_stack any_input.

  Definition of_symbols (st : list symbol) : Prop := Forall (fun s => s < symbols) st.

  (* The unders form a path from a spot down through this stack. *)
  Definition spot_lies (x : spot) (st : list symbol) : Prop :=
    exists q, under_spot x (hd_error st) q /\ lies_beneath A unders q st.

  Lemma lies_spot p st : lies A unders p st -> spot_lies (At p) st.
  Proof.
    intro L. apply lies_elim in L. destruct L as (q & U & L). exists q. split; [|exact L].
    exists (top A st). split; [|exact U]. symmetry. apply (top_symbol A symbols law).
  Qed.

  Lemma covered_right r st whole k items : covered r st whole k items ->
    forall i early lower, items i ->
    (whole = true -> lower = []) -> (whole = false -> spot_lies (spot_of i) lower) -> of_symbols lower ->
    (whole_input k = true -> early = []) -> of_terminals terminals (before k ++ early) ->
    past i = recent R (before k ++ early) ->
    gives M r (answered i) (sees M (before k ++ early) (next k)) (encode M (st ++ lower)).
  Proof.
    induction 1 as [st whole k items None_ | st whole k items a Same Certain | st whole k items Open _ IH
      | st k items _ IHbottom _ IHsymbol]; intros i early lower I W S K WI T P.
    - contradiction (None_ i I).
    - rewrite (Same i I). apply Certain.
      + apply (input_in_set M terminals symbols any_stack any_input inv); [|exact WI].
        apply Forall_app in T. apply T.
      + apply (stack_in_set M terminals symbols any_stack any_input inv); assumption.
    - pose proof (memory_holds (before k ++ early) (length (before k)) T) as Truth. rewrite <- P in Truth.
      destruct early as [|t early].
      + refine (IH None (or_introl eq_refl) i [] lower (conj I _) W S K (fun _ => eq_refl) T P). unfold may_be.
        destruct (recall R (past i) (length (before k))) as [|t'|]; [reflexivity| |exact Logic.I].
        rewrite app_nil_r in Truth. assert (E : length (before k) < length (before k))
          by (apply nth_error_Some; rewrite Truth; discriminate). lia.
      + assert (E : before k ++ t :: early = (before k ++ [t]) ++ early) by (rewrite <- app_assoc; reflexivity).
        rewrite E in T, P. rewrite E.
        assert (Known : In (Some t) (map Some (seq 0 terminals))).
        { apply Forall_app in T. destruct T as [T _]. apply Forall_app in T. destruct T as [_ T].
          inversion T as [|? ? T']. apply Nat.ltb_lt in T'. apply in_map, in_seq. lia. }
        refine (IH (Some t) (or_intror Known) i early lower (conj I _) W S K (fun X => _) T P); [|discriminate X].
        unfold may_be. destruct (recall R (past i) (length (before k))) as [|t'|].
        * rewrite app_length in Truth. simpl in Truth. lia.
        * rewrite nth_error_app2, Nat.sub_diag in Truth by lia. exact Truth.
        * exact Logic.I.
    - destruct (S eq_refl) as (q & U & L). destruct lower as [|s lower].
      + refine (IHbottom {| answered := answered i; spot_of := At q; past := past i |} early [] _ (fun _ => eq_refl)
          (fun X => _) K WI T P); [|discriminate X]. exists i, q. auto.
      + assert (E : st ++ s :: lower = (st ++ [s]) ++ lower) by (rewrite <- app_assoc; reflexivity). rewrite E.
        refine (IHsymbol s {| answered := answered i; spot_of := At q; past := past i |} early lower _ (fun X => _)
          (fun _ => lies_spot q lower L) _ WI T P); [|discriminate X | inversion K; assumption].
        exists i, q. auto.
  Qed.

  Hypothesis reach : closed terminals A R heads unders.
  Hypothesis cover : all_covered.

  Lemma readout_right r c l read st a :
    reached A heads unders c st -> past_and_next c = Some (recent R read, l) -> In l (lookaheads terminals) ->
    of_terminals terminals read -> of_symbols st -> In r (readouts M) -> right_answer A r c (top A st) = Some a ->
    gives M r a (sees M read l) (encode M st).
  Proof.
    intros (p & H & L) C I T K IR Right.
    pose (i := {| answered := a; spot_of := Above (symbol_of A (top A st)) p; past := recent R read |}).
    refine (covered_right r [] false _ _ (cover r l IR I) i read st _ (fun X => _) _ K (fun X => _) T eq_refl);
      try discriminate X.
    - exists (Head c (top A st) p). auto.
    - intros _. exists p. split; [|exact L]. split; [|reflexivity]. symmetry. apply (top_symbol A symbols law).
  Qed.

  Lemma choose_right read l st :
    reached A heads unders (Reduce (recent R read) l) st -> In l (lookaheads terminals) ->
    of_terminals terminals read -> of_symbols st ->
    choose M (sees M read l) (encode M st) = reduction_of (action A (top A st) l).
  Proof.
    intros H I T K. unfold choose.
    assert (Right : forall r, In r (readouts M) -> r = PopReadout \/ r = PushReadout ->
      gives M r (Act (reduction_of (action A (top A st) l))) (sees M read l) (encode M st)).
    { intros r IR E. apply (readout_right r _ l read st _ H eq_refl I T K IR). destruct E as [-> | ->]; reflexivity. }
    unfold readouts, gives in Right. destruct (act_readout_of M) as [p q|j].
    - rewrite (Right PopReadout), (Right PushReadout) by (simpl; auto). destruct (reduction_of _); reflexivity.
    - apply (Right PopReadout); simpl; auto.
  Qed.

  (* ** The two runs *)
  Notation memory_a := (memory (oracle A)).
  Notation memory_m := (memory (runner M)).

  Definition waiting (a : memory_a) (m : memory_m) : Prop :=
    exists read, of_terminals terminals read /\ of_symbols (fst a)
      /\ reached A heads unders (Next (recent R read)) (fst a)
      /\ on_stack M m = with_states M (fst a)
      /\ forall step, sight M = ReservoirView step -> input M m = input_after M step (input_zero M) read.

  Definition at_work (c : history -> lookahead -> control) (l : lookahead) (a : memory_a) (m : memory_m) : Prop :=
    exists read, of_terminals terminals read /\ of_symbols (fst a)
      /\ reached A heads unders (c (recent R read) l) (fst a)
      /\ on_stack M m = with_states M (fst a) /\ input M m = sees M read l
      /\ snd a = l /\ ahead M m = l /\ In l (lookaheads terminals).

  Lemma same_steps : simulation terminals (oracle A) (runner M) waiting (at_work Reduce) (at_work Settled).
  Proof.
    constructor.
    - exists []. repeat split; try constructor. exact (reached_start terminals A R heads unders reach).
    - intros l [st l'] m (read & T & K & H & S & V) I. exists read. repeat split; try assumption.
      + apply (reached_look terminals A R heads unders reach); assumption.
      + unfold sees. simpl. destruct (sight M) as [f|step]; [reflexivity|]. rewrite (V step eq_refl). reflexivity.
    - intros l [st l'] m (read & T & K & H & S & _). simpl. rewrite S. symmetry. apply with_states_symbols.
    - intros l [st l'] m (read & T & K & H & S & V & L & _ & I). simpl in *. subst l'.
      rewrite S, V, with_states_top. symmetry. apply choose_right; assumption.
    - intros l [st l'] m (read & T & K & H & S & V & L & N & I) D P. simpl in *. subst l'.
      destruct (action A (top A st) l) as [[count s]|] eqn:Act; [|contradiction D; reflexivity]. simpl in *.
      exists read. simpl. repeat split; try assumption.
      + constructor; [apply (pushed_known _ _ law _ _ _ _ Act)|].
        unfold of_symbols in K. rewrite <- (firstn_skipn count st) in K. apply Forall_app in K. apply K.
      + apply (reached_reduced terminals A R heads unders symbols law reach); assumption.
      + rewrite S, with_states_skipn. apply with_states_put.
    - intros l [st l'] m (read & T & K & H & S & V & L & N & I) D. simpl in *. subst l'.
      exists read. repeat split; try assumption. simpl.
      apply (reached_settled terminals A R heads unders reach); [exact H|].
      destruct (action A (top A st) l) as [[count s]|]; [discriminate D | reflexivity].
    - intros l [st l'] m (read & T & K & H & S & _). simpl. rewrite S. symmetry. apply with_states_symbols.
    - intros l [st l'] m (read & T & K & H & S & V & L & N & I). simpl in *. rewrite S, V, with_states_top.
      assert (IR : In OutputReadout (readouts M)) by (unfold readouts; destruct (act_readout_of M); simpl; auto).
      pose proof (readout_right OutputReadout _ l read st _ H eq_refl I T K IR eq_refl) as G.
      symmetry. unfold gives in G. destruct (act_readout_of M); exact G.
    - intros t [st l'] m (read & T & K & H & S & V & L & N & I). simpl in *. subst l'. rewrite S, V, with_states_top.
      assert (IR : In ShiftReadout (readouts M)) by (unfold readouts; destruct (act_readout_of M); simpl; auto).
      pose proof (readout_right ShiftReadout _ (Some t) read st _ H eq_refl I T K IR eq_refl) as G.
      symmetry. unfold gives in G. destruct (act_readout_of M); exact G.
    - intros t [st l'] m (read & T & K & H & S & V & L & N & I) D. simpl in *. subst l'.
      pose proof (looked_terminal _ _ I) as T'.
      exists (t :: read). simpl. rewrite N. repeat split.
      + constructor; assumption.
      + constructor; [|exact K]. apply Nat.ltb_lt in T'. lia.
      + apply (reached_shifted terminals A R heads unders reach); assumption.
      + rewrite S. apply with_states_put.
      + intros step E. rewrite V. unfold sees. rewrite E. reflexivity.
  Qed.
End Agreement.

(* For every word: after any number of steps, machine and automaton have the same phase, position, next token and stack,
   and make the same decision there, or both have ended in the same way. With any limits, they give the same verdict, at
   the same position, with the same expected tokens, or are stopped there by the same limit. *)
Theorem machine_agrees :
  forall (terminals symbols : nat) (A : automaton) (R : remembering) (M : machine)
    (heads : head (element A) -> Prop) (unders : under (element A) -> Prop)
    (any_stack : state M -> Prop) (any_input : seen M -> Prop),
  terminals <= symbols ->
  lawful symbols A ->
  truthful terminals R ->
  closed terminals A R heads unders ->
  invariant M terminals symbols any_stack any_input ->
  all_covered terminals A R M heads unders any_stack any_input ->
  forall word : list symbol,
  (forall n, configuration_after terminals (runner M) n word = configuration_after terminals (oracle A) n word)
  /\ (forall L : limits, judge terminals (runner M) L word = judge terminals (oracle A) L word).
Proof.
  intros terminals symbols A R M heads unders any_stack any_input Enough Law Truth Closed Inv Cover word.
  pose proof (same_steps _ _ _ _ _ _ _ _ _ Law Enough Truth Inv Closed Cover) as Sim.
  split; intros; symmetry; [apply (configurations_same _ _ _ _ _ _ Sim) | apply (judge_same _ _ _ _ _ _ Sim)].
Qed.
