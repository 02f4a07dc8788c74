(* Closure and covering as executable functions, modeled on certify/closed.rs and certify/check.rs, with a proof that they
   imply the hypotheses of the theorem. Of the whole checker, only the margins are missing: [walk] returns the decisions
   that must be certain. *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach Echostack.Memory Echostack.Machine Echostack.Agreement.

(* Tests are written with [if] instead of [&&], because vm_compute evaluates both arguments of [&&]. *)

(* ** Decidable equality for the parts of certificates *)
Definition lookahead_dec (a b : lookahead) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.
Definition control_dec (a b : control) : {a = b} + {a <> b}.
Proof. decide equality; try apply Nat.eq_dec; apply lookahead_dec. Defined.
Definition head_dec {E : Type} (dec : forall a b : E, {a = b} + {a <> b}) (a b : head E) : {a = b} + {a <> b}.
Proof. decide equality; [apply Nat.eq_dec | apply control_dec]. Defined.
Definition reduction_dec (a b : reduction) : {a = b} + {a <> b}.
Proof. decide equality; try apply Nat.eq_dec; apply lookahead_dec. Defined.
Definition answer_dec (a b : answer) : {a = b} + {a <> b}.
Proof. decide equality; try apply bool_dec; apply reduction_dec. Defined.
Definition spot_dec (a b : spot) : {a = b} + {a <> b}.
Proof. decide equality; try apply Nat.eq_dec; apply lookahead_dec. Defined.
Definition item_dec (a b : item) : {a = b} + {a <> b}.
Proof. decide equality; [apply Nat.eq_dec | apply spot_dec | apply answer_dec]. Defined.
Definition readout_dec (a b : readout) : {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition looked_dec (a b : looked) : {a = b} + {a <> b}.
Proof. decide equality; [apply bool_dec | apply (list_eq_dec Nat.eq_dec) | apply lookahead_dec]. Defined.

(* Named: an obligation, identified by its readout and its look. *)
Definition name := (readout * looked)%type.

(* Cell: a stack suffix, topmost symbol first, and the obligations that are split or proved there. *)
Record cell := { cell_stack : list symbol; cell_whole : bool; split : list name; proved : list name }.

Record certificate (E : Type) := { its_heads : list (head E); its_unders : list (under E); its_cells : list cell }.
Arguments its_heads {E}.
Arguments its_unders {E}.
Arguments its_cells {E}.

(* Obligation: the answers that a readout must give in a cell. *)
Record obligation := { readout_of : readout; look_of : looked; items_of : list item }.

(* A leaf: a decision that must be certain (ProvedCell, without its margin). *)
Record leaf := {
  leaf_readout : readout; leaf_answer : answer; leaf_stack : list symbol; leaf_whole : bool; leaf_look : looked
}.

Section Check.
  Variable terminals : nat.
  Variable A : automaton.
  Variable R : remembering.
  Variable C : certificate (element A).

  (* ** Closure: [closed] in check.rs *)
  Definition has_head (c : control) (e : element A) (p : place) : bool :=
    if in_dec (head_dec (element_dec A)) (Head c e p) (its_heads C) then true else false.

  Definition check_follows (h : head (element A)) (m : move (element A)) : bool :=
    match m with
    | Stay c => has_head c (on_top h) (beneath h)
    | Pops c =>
        forallb (fun u => if above u =? beneath h then has_head c (lying u) (further u) else true) (its_unders C)
    | Pushes c e =>
        existsb (fun u =>
          if further u =? beneath h then
            if element_dec A (lying u) (on_top h) then has_head c e (above u) else false
          else false) (its_unders C)
    end.

  Definition check_closed : bool :=
    has_head (Next 0) (bottom A) 0
    && forallb (fun h => forallb (check_follows h) (moves terminals A R (at_control h) (on_top h))) (its_heads C).

  Definition heads (h : head (element A)) := In h (its_heads C).
  Definition unders (u : under (element A)) := In u (its_unders C).

  Lemma has_head_sound c e p : has_head c e p = true -> heads (Head c e p).
  Proof. unfold has_head, heads. destruct (in_dec _ _ _); [auto | discriminate]. Qed.

  Theorem check_closed_sound : check_closed = true -> closed terminals A R heads unders.
  Proof.
    unfold check_closed. rewrite andb_true_iff, forallb_forall. intros (S & All). constructor.
    - apply has_head_sound, S.
    - intros h H m I. specialize (All h H). rewrite forallb_forall in All. specialize (All m I).
      destruct m as [c|c|c e]; simpl in *.
      + apply has_head_sound, All.
      + rewrite forallb_forall in All. intros u U E. specialize (All u U).
        rewrite (proj2 (Nat.eqb_eq _ _) E) in All. apply has_head_sound, All.
      + apply existsb_exists in All. destruct All as (u & U & All).
        destruct (further u =? beneath h) eqn:E2; [|discriminate]. apply Nat.eqb_eq in E2.
        destruct (element_dec A (lying u) (on_top h)) as [E1|]; [|discriminate].
        exists (above u). split; [apply has_head_sound, All|]. rewrite <- E1, <- E2. destruct u. exact U.
  Qed.

  (* ** Covering: Cells and Walk *)

  (* Cells::beneath *)
  Definition under_list (x : spot) : list (option symbol * place) :=
    match x with
    | Above s p => [(s, p)]
    | At p => map (fun u => (symbol_of A (lying u), further u)) (filter (fun u => above u =? p) (its_unders C))
    end.

  (* The obligation with these items, if there are any. *)
  Definition oblige (r : readout) (k : looked) (items : list item) : list obligation :=
    match items with
    | [] => []
    | _ => [{| readout_of := r; look_of := k; items_of := nodup item_dec items |}]
    end.

  (* Cells::new *)
  Definition asked_items (r : readout) (l : lookahead) : list item :=
    flat_map (fun h =>
      match past_and_next (at_control h), right_answer A r (at_control h) (on_top h) with
      | Some (past, l'), Some a =>
          if lookahead_dec l' l
          then [{| answered := a; spot_of := Above (symbol_of A (on_top h)) (beneath h); past := past |}] else []
      | _, _ => []
      end) (its_heads C).

  Definition root (asked : list readout) : list obligation :=
    flat_map (fun l =>
      flat_map (fun r => oblige r {| next := l; before := []; whole_input := false |} (asked_items r l)) asked)
      (lookaheads terminals).

  (* Cells::split_input *)
  Definition may_be_b (h : history) (back : nat) (t : option symbol) : bool :=
    match recall R h back with
    | Beginning => if lookahead_dec t None then true else false
    | Token t' => if lookahead_dec t (Some t') then true else false
    | Forgotten => true
    end.

  Definition split_input (o : obligation) : list obligation :=
    flat_map (fun t =>
      oblige (readout_of o) (extended (look_of o) t)
        (filter (fun i => may_be_b (past i) (length (before (look_of o))) t) (items_of o)))
      (None :: map Some (seq 0 terminals)).

  (* Cells::split_stack, with the symbols in order, the bottom first. *)
  Definition sink (s : option symbol) (i : item) : list item :=
    flat_map (fun '(s', q) =>
      if lookahead_dec s' s then [{| answered := answered i; spot_of := At q; past := past i |}] else [])
      (under_list (spot_of i)).

  Definition split_stack (s : option symbol) (os : list obligation) : list obligation :=
    flat_map (fun o => oblige (readout_of o) (look_of o) (flat_map (sink s) (items_of o))) os.

  Definition before_b (a b : option symbol) : bool :=
    match a, b with None, Some _ => true | Some a, Some b => a <? b | _, None => false end.

  Fixpoint insert (s : option symbol) (keys : list (option symbol)) : list (option symbol) :=
    match keys with
    | [] => [s]
    | k :: rest => if lookahead_dec s k then keys else if before_b s k then s :: keys else k :: insert s rest
    end.

  Definition keys (os : list obligation) : list (option symbol) :=
    fold_right insert [] (flat_map (fun o => flat_map (fun i => map fst (under_list (spot_of i))) (items_of o)) os).

  (* A part that is still to be examined: a stack suffix and its obligations. *)
  Definition part := (list symbol * bool * list obligation)%type.

  Definition longer (st : list symbol) (os : list obligation) : list part :=
    map (fun s => (match s with Some s => st ++ [s] | None => st end,
        match s with Some _ => false | None => true end, split_stack s os)) (keys os).

  Fixpoint take (n : name) (os : list obligation) : option (obligation * list obligation) :=
    match os with
    | [] => None
    | o :: os =>
        if readout_dec (readout_of o) (fst n) then
          if looked_dec (look_of o) (snd n) then Some (o, os)
          else option_map (fun '(x, rest) => (x, o :: rest)) (take n os)
        else option_map (fun '(x, rest) => (x, o :: rest)) (take n os)
    end.

  Fixpoint splits (names : list name) (os : list obligation) : option (list obligation) :=
    match names with
    | [] => Some os
    | n :: names =>
        match take n os with
        | Some (o, os) => if whole_input (look_of o) then None else splits names (split_input o ++ os)
        | None => None
        end
    end.

  (* Obligation::answer *)
  Definition one_answer (items : list item) : option answer :=
    match items with
    | [] => None
    | i :: items =>
        if forallb (fun j => if answer_dec (answered j) (answered i) then true else false) items
        then Some (answered i) else None
    end.

  Fixpoint proofs (st : list symbol) (whole : bool) (names : list name) (os : list obligation)
      : option (list obligation * list leaf) :=
    match names with
    | [] => Some (os, [])
    | n :: names =>
        match take n os with
        | Some (o, os) =>
            match one_answer (items_of o), proofs st whole names os with
            | Some a, Some (os, leaves) =>
                Some (os, {| leaf_readout := readout_of o; leaf_answer := a; leaf_stack := st; leaf_whole := whole;
                  leaf_look := look_of o |} :: leaves)
            | _, _ => None
            end
        | None => None
        end
    end.

  Definition check_cell (c : cell) (os : list obligation) : option (list obligation * list leaf) :=
    match splits (split c) os with
    | Some os => proofs (cell_stack c) (cell_whole c) (proved c) os
    | None => None
    end.

  (* Walk::run *)
  Fixpoint walk (cells : list cell) (queue : list part) : option (list leaf) :=
    match queue, cells with
    | [], [] => Some []
    | (st, whole, os) :: queue, c :: cells =>
        if list_eq_dec Nat.eq_dec (cell_stack c) st then
          if bool_dec (cell_whole c) whole then
            match check_cell c os with
            | Some (os, leaves) =>
                if whole then match os with [] => option_map (app leaves) (walk cells queue) | _ => None end
                else option_map (app leaves) (walk cells (queue ++ longer st os))
            | None => None
            end
          else None
        else None
    | _, _ => None
    end.

  Definition check (asked : list readout) : option (list leaf) :=
    if check_closed then walk (its_cells C) [([], false, root asked)] else None.

  (* ** Soundness *)
  Variable M : machine.
  Variable any_stack : state M -> Prop.
  Variable any_input : seen M -> Prop.

  Definition sure (x : leaf) : Prop :=
    certain M any_stack any_input (leaf_readout x) (leaf_answer x) (leaf_stack x) (leaf_whole x) (leaf_look x).

  Notation covered := (covered terminals A R M unders any_stack any_input).

  Definition fulfilled (st : list symbol) (whole : bool) (o : obligation) : Prop :=
    covered (readout_of o) st whole (look_of o) (fun i => In i (items_of o)).

  Lemma covered_less r st whole k big : covered r st whole k big ->
    forall small : item -> Prop, (forall i, small i -> big i) -> covered r st whole k small.
  Proof.
    induction 1 as [st whole k big N | st whole k big a Same Certain | st whole k big Open _ IH | st k big _ IHb _ IHs];
      intros small Less.
    - apply Empty. intros i I. exact (N i (Less i I)).
    - apply Proved with a; auto.
    - apply SplitInput; [exact Open|]. intros t Known. apply (IH t Known). intros i (I & B). auto.
    - apply SplitStack; [apply IHb | intro s; apply IHs]; intros j (i & q & I & U & E); exists i, q; auto.
  Qed.

  Lemma oblige_sound st whole r k items :
    (forall o, In o (oblige r k items) -> fulfilled st whole o) -> covered r st whole k (fun i => In i items).
  Proof.
    intro F. destruct items as [|i items]; [apply Empty; intros i []|].
    eapply covered_less; [exact (F _ (or_introl eq_refl))|]. intros j J. apply nodup_In, J.
  Qed.

  Lemma root_sound asked :
    (forall o, In o (root asked) -> fulfilled [] false o) ->
    forall r l, In r asked -> In l (lookaheads terminals) ->
    covered r [] false {| next := l; before := []; whole_input := false |} (Agreement.asked A heads r l).
  Proof.
    intros F r l IR IL. eapply covered_less.
    - apply oblige_sound with (items := asked_items r l). intros o O. apply F.
      apply in_flat_map. exists l. split; [exact IL|]. apply in_flat_map. exists r. auto.
    - intros i (h & H & P & Q & S). apply in_flat_map. exists h. split; [exact H|]. rewrite P, Q.
      destruct (lookahead_dec l l) as [_|N]; [|contradiction]. left. destruct i. simpl in S. subst. reflexivity.
  Qed.

  Lemma split_input_sound st whole o : whole_input (look_of o) = false ->
    (forall o', In o' (split_input o) -> fulfilled st whole o') -> fulfilled st whole o.
  Proof.
    intros Open F. apply SplitInput; [exact Open|]. intros t Known. eapply covered_less.
    - apply oblige_sound. intros o' O. apply F. apply in_flat_map. exists t. split; [exact Known | exact O].
    - intros i (I & B). apply filter_In. split; [exact I|]. unfold may_be in B. unfold may_be_b.
      destruct (recall R (past i) _); [| |reflexivity]; subst t;
        match goal with |- (if ?d then _ else _) = _ => destruct d; congruence end.
  Qed.

  Lemma sink_complete s i q : under_spot A unders (spot_of i) s q ->
    In (s, q) (under_list (spot_of i)).
  Proof.
    unfold under_spot, under_list. destruct (spot_of i) as [s' p|p].
    - intros (-> & ->). left. reflexivity.
    - intros (e & -> & U). apply in_map_iff. exists (Under p e q).
      split; [reflexivity|]. apply filter_In. split; [exact U | apply Nat.eqb_refl].
  Qed.

  Lemma insert_in s k ks : In k (insert s ks) <-> s = k \/ In k ks.
  Proof.
    induction ks as [|x ks IH]; simpl; [tauto|].
    destruct (lookahead_dec s x) as [->|_]; [simpl; tauto|].
    destruct (before_b s x); simpl; [tauto | rewrite IH; tauto].
  Qed.

  Lemma keys_complete os o i s q : In o os -> In i (items_of o) -> In (s, q) (under_list (spot_of i)) -> In s (keys os).
  Proof.
    intros O I U. unfold keys.
    assert (K : In s (flat_map (fun o => flat_map (fun i => map fst (under_list (spot_of i))) (items_of o)) os)).
    { apply in_flat_map. exists o. split; [exact O|]. apply in_flat_map. exists i. split; [exact I|].
      apply in_map_iff. exists (s, q). auto. }
    revert K. generalize (flat_map (fun o => flat_map (fun i => map fst (under_list (spot_of i))) (items_of o)) os).
    intro l. induction l as [|x l IH]; simpl; [tauto|]. rewrite insert_in. intuition.
  Qed.

  Lemma longer_sound st os :
    (forall st' whole' os', In (st', whole', os') (longer st os) -> forall o, In o os' -> fulfilled st' whole' o) ->
    forall o, In o os -> fulfilled st false o.
  Proof.
    intros F o O.
    assert (Sunk : forall s, covered (readout_of o) (match s with Some s => st ++ [s] | None => st end)
        (match s with Some _ => false | None => true end) (look_of o)
        (sunk A unders (fun i => In i (items_of o)) s)).
    { intro s. destruct (in_dec lookahead_dec s (keys os)) as [K|K].
      - eapply covered_less with (big := fun i => In i (flat_map (sink s) (items_of o))).
        + apply oblige_sound. intros o' O'. refine (F _ _ (split_stack s os) _ o' _).
          * apply in_map_iff. exists s. auto.
          * apply in_flat_map. exists o. auto.
        + intros j (i & q & I & U & ->). apply in_flat_map. exists i. split; [exact I|].
          apply in_flat_map. exists (s, q). split; [apply sink_complete, U|].
          destruct (lookahead_dec s s); [left; reflexivity | contradiction].
      - apply Empty. intros j (i & q & I & U & _). apply K. eapply keys_complete; eauto using sink_complete. }
    apply SplitStack; [exact (Sunk None) | intro s; exact (Sunk (Some s))].
  Qed.

  Lemma take_spec n os o rest : take n os = Some (o, rest) -> forall x, In x os -> x = o \/ In x rest.
  Proof.
    revert rest. induction os as [|y os IH]; intros rest; simpl; [discriminate|].
    assert (Later : option_map (fun '(x, r) => (x, y :: r)) (take n os) = Some (o, rest) ->
      forall x, y = x \/ In x os -> x = o \/ In x rest).
    { destruct (take n os) as [[z r]|]; [|discriminate]. simpl. intros E x [->|X]; injection E as -> <-.
      - right. left. reflexivity.
      - destruct (IH r eq_refl x X); [left | right; right]; assumption. }
    destruct (readout_dec _ _); [destruct (looked_dec _ _)|]; try exact Later.
    intros E x [->|X]; injection E as -> ->; auto.
  Qed.

  Lemma splits_sound st whole names : forall os rest, splits names os = Some rest ->
    (forall o, In o rest -> fulfilled st whole o) -> forall o, In o os -> fulfilled st whole o.
  Proof.
    induction names as [|n names IH]; simpl; intros os rest E F o O; [injection E as ->; auto|].
    destruct (take n os) as [[x os']|] eqn:T; [|discriminate].
    destruct (whole_input (look_of x)) eqn:W; [discriminate|].
    specialize (IH _ _ E F). destruct (take_spec _ _ _ _ T o O) as [->|O'].
    - apply split_input_sound; [exact W|]. intros o' O'. apply IH, in_or_app. auto.
    - apply IH, in_or_app. auto.
  Qed.

  Lemma one_answer_spec items a : one_answer items = Some a -> forall i, In i items -> answered i = a.
  Proof.
    destruct items as [|x items]; simpl; [discriminate|].
    destruct (forallb _ items) eqn:All; [|discriminate]. intros E i [->|I]; injection E as <-; [reflexivity|].
    rewrite forallb_forall in All. specialize (All i I). destruct (answer_dec _ _); [assumption | discriminate].
  Qed.

  Lemma proofs_sound st whole names : forall os rest leaves, proofs st whole names os = Some (rest, leaves) ->
    Forall sure leaves -> (forall o, In o rest -> fulfilled st whole o) -> forall o, In o os -> fulfilled st whole o.
  Proof.
    induction names as [|n names IH]; simpl; intros os rest leaves E S F o O; [injection E as -> _; auto|].
    destruct (take n os) as [[x os']|] eqn:T; [|discriminate].
    destruct (one_answer (items_of x)) as [a|] eqn:One; [|discriminate].
    destruct (proofs st whole names os') as [[rest' leaves']|] eqn:E'; [|discriminate].
    injection E as -> <-. inversion S as [|? ? Sure S']; subst.
    destruct (take_spec _ _ _ _ T o O) as [->|O']; [|exact (IH _ _ _ E' S' F o O')].
    apply Proved with a; [apply one_answer_spec, One | exact Sure].
  Qed.

  Lemma walk_sound cells : forall queue leaves, walk cells queue = Some leaves -> Forall sure leaves ->
    forall st whole os, In (st, whole, os) queue -> forall o, In o os -> fulfilled st whole o.
  Proof.
    induction cells as [|c cells IH]; intros [|((st, whole), os) queue] leaves E S; simpl in E;
      try discriminate; intros st' whole' os' Q o O; [destruct Q|].
    destruct (list_eq_dec _ _ _) as [<-|]; [|discriminate]. destruct (bool_dec _ _) as [<-|]; [|discriminate].
    unfold check_cell in E. destruct (splits (split c) os) as [mid|] eqn:Es; [|discriminate].
    destruct (proofs _ _ _ mid) as [[rest here]|] eqn:Ep; [|discriminate].
    assert (Rest : (forall o, In o rest -> fulfilled (cell_stack c) (cell_whole c) o)
      /\ Forall sure here /\ (In (st', whole', os') queue -> fulfilled st' whole' o)).
    { destruct (cell_whole c) eqn:W.
      - destruct rest as [|]; [|discriminate]. destruct (walk cells queue) as [more|] eqn:Ew; [|discriminate].
        injection E as <-. apply Forall_app in S. destruct S as [S1 S2].
        split; [intros ? [] |]. split; [exact S1|]. intro Q'. exact (IH _ _ Ew S2 _ _ _ Q' o O).
      - destruct (walk cells (queue ++ longer (cell_stack c) rest)) as [more|] eqn:Ew; [|discriminate].
        injection E as <-. apply Forall_app in S. destruct S as [S1 S2]. split; [|split; [exact S1|]].
        + apply longer_sound. intros st1 w1 os1 L. apply (IH _ _ Ew S2). apply in_or_app. auto.
        + intro Q'. refine (IH _ _ Ew S2 _ _ _ _ o O). apply in_or_app. auto. }
    destruct Rest as (Rest & Here & Others). destruct Q as [Q|Q]; [|exact (Others Q)].
    injection Q as <- <- <-. refine (splits_sound _ _ _ _ _ Es _ o O).
    exact (proofs_sound _ _ _ _ _ _ Ep Here Rest).
  Qed.

  Theorem check_sound leaves : check (readouts M) = Some leaves -> Forall sure leaves ->
    closed terminals A R heads unders /\ all_covered terminals A R M heads unders any_stack any_input.
  Proof.
    unfold check. destruct check_closed eqn:Closed; [|discriminate]. intros E S.
    split; [apply check_closed_sound, Closed|]. intros r l IR IL.
    apply (root_sound (readouts M)); [|exact IR | exact IL].
    intros o O. refine (walk_sound _ _ _ E S _ _ _ _ o O). left. reflexivity.
  Qed.
End Check.

(* If a certificate passes the check and its leaves are certain, the machine agrees with the automaton. *)
Theorem certificate_agrees :
  forall (terminals symbols tokens : nat) (A : automaton) (C : certificate (element A))
    (M : machine) (leaves : list leaf) (any_stack : state M -> Prop) (any_input : seen M -> Prop),
  terminals <= symbols ->
  lawful symbols A ->
  check terminals A (memory_of (S terminals) tokens) C (readouts M) = Some leaves ->
  invariant M terminals symbols any_stack any_input ->
  Forall (sure M any_stack any_input) leaves ->
  forall word : list symbol,
  (forall n, configuration_after terminals (runner M) n word = configuration_after terminals (oracle A) n word)
  /\ (forall L : limits, judge terminals (runner M) L word = judge terminals (oracle A) L word).
Proof.
  intros terminals symbols tokens A C M leaves any_stack any_input Enough Law Checked Inv Sure word.
  destruct (check_sound _ _ _ _ M any_stack any_input _ Checked Sure) as [Closed Cover].
  exact (machine_agrees _ _ _ _ _ _ _ _ _ Enough Law (memory_truthful terminals tokens) Closed Inv Cover word).
Qed.
