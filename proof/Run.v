(* The loop that automata and machines share (recognize/run.rs), and conditions under which two engines behave the same
   when it drives them.

   Symbols are numbers, as in symbol.rs; the terminals come first. A stack is a list, topmost symbol first. *)

Require Import List Arith Bool.
Import ListNotations.

Definition symbol := nat.
Definition lookahead := option symbol.   (* Lookahead: [None] is the end of the word *)

(* Reduction: pop [pop] symbols, then push one symbol or none. *)
Record reduction := { pop : nat; push : option symbol }.
Definition NONE := {| pop := 0; push := None |}.

Definition is_none (r : reduction) : bool :=
  match r with {| pop := 0; push := None |} => true | _ => false end.

Lemma is_none_spec r : is_none r = true <-> r = NONE.
Proof. destruct r as [[|p] [s|]]; simpl; split; intro H; try discriminate; reflexivity. Qed.

(* The trait Stack, without mutation: [Stack::rewind] returns to the memory before the [look]. The functions that only
   save work ([prepare]) and the margins are left out. *)
Record engine := {
  memory : Type;
  fresh : memory;
  look : lookahead -> memory -> memory;
  decide : memory -> reduction;
  stack : memory -> list symbol;
  reduce : reduction -> memory -> memory;
  output : memory -> bool;
  shifts : memory -> bool;
  shift : memory -> memory
}.

Inductive limit := Depth | Actions | Underflow.

(* Limits: the maximum depth, and [Limits::actions_at]. *)
Record limits := { depth_limit : nat; actions_at : nat -> nat }.

Inductive verdict :=
  | Accept
  | Incomplete (expected : list lookahead)
  | Reject (position : nat) (expected : list lookahead)
  | Stopped (position : nat) (why : limit).

Section Alphabet.
  Variable terminals : nat.

  (* Alphabet::lookaheads *)
  Definition lookaheads : list lookahead := map Some (seq 0 terminals) ++ [None].
  Definition is_terminal (t : symbol) : bool := t <? terminals.

  Lemma terminal_looked t : is_terminal t = true -> In (Some t) lookaheads.
  Proof.
    intro H. apply in_or_app. left. apply in_map. apply in_seq. apply Nat.ltb_lt in H. auto with arith.
  Qed.

  Lemma looked_terminal t : In (Some t) lookaheads -> is_terminal t = true.
  Proof.
    intro H. apply in_app_or in H. destruct H as [H | [H | []]]; [|discriminate].
    apply in_map_iff in H. destruct H as (t' & E & H). injection E as <-. apply in_seq in H. apply Nat.ltb_lt, H.
  Qed.

  Lemma end_looked : In None lookaheads.
  Proof. apply in_or_app. right. left. reflexivity. Qed.

  Section Run.
    Variable E : engine.
    Notation M := (memory E).
    Definition depth (m : M) := length (stack E m).

    (* ** The run with limits: Run::settle, read, read_end, expected and verdict, in strict mode *)
    Section Limits.
      Variable L : limits.

      (* Run::act and Run::settle. [left] is the number of decisions that are still allowed on this token. *)
      Fixpoint settle (left : nat) (m : M) : M + limit :=
        match left with
        | 0 => inr Actions
        | S rest =>
            let r := decide E m in
            if is_none r then inl m
            else if depth m <? pop r then inr Underflow
            else if (match push r with Some _ => true | None => false end) && (depth_limit L <=? depth m - pop r)
            then inr Depth
            else settle rest (reduce E r m)
        end.

      Definition settle_on (l : lookahead) (m : M) : M + limit :=
        let m := look E l m in settle (actions_at L (depth m)) m.

      (* [Some]: the token was shifted; [None]: it was refused. *)
      Definition read (t : symbol) (m : M) : option M + limit :=
        match settle_on (Some t) m with
        | inr why => inr why
        | inl m =>
            if shifts E m then if depth_limit L <=? depth m then inr Depth else inl (Some (shift E m)) else inl None
        end.

      Definition read_end (m : M) : bool + limit :=
        match settle_on None m with inr why => inr why | inl m => inl (output E m) end.

      (* Session::expected: each token and the end are tried from the same memory. *)
      Definition fits (m : M) (l : lookahead) : bool :=
        match l with
        | Some t => match read t m with inl (Some _) => true | _ => false end
        | None => match read_end m with inl true => true | _ => false end
        end.
      Definition expected (m : M) : list lookahead := filter (fits m) lookaheads.

      (* Session::feed for each token, then Session::finish. [Stack::admits] refuses symbols that are not terminals. *)
      Fixpoint judge_from (position : nat) (m : M) (word : list symbol) : verdict :=
        match word with
        | [] =>
            match read_end m with
            | inl true => Accept
            | inl false => Incomplete (expected m)
            | inr why => Stopped position why
            end
        | t :: word =>
            if is_terminal t then
              match read t m with
              | inl (Some m) => judge_from (S position) m word
              | inl None => Reject position (expected m)
              | inr why => Stopped position why
              end
            else Reject position (expected m)
        end.

      Definition judge (word : list symbol) : verdict := judge_from 0 (fresh E) word.
    End Limits.

    (* ** The run without limits, step by step *)
    Inductive ending := Accepted | Ended | Refused | Underflowed.

    Inductive run :=
      | Deciding (m : M) (position : nat) (next : lookahead) (rest : list symbol)  (* decides on an action *)
      | Settling (m : M) (position : nat) (next : lookahead) (rest : list symbol)  (* decides on output and shift *)
      | Over (position : nat) (how : ending).

    Definition enter (m : M) (position : nat) (word : list symbol) : run :=
      match word with
      | [] => Deciding (look E None m) position None []
      | t :: rest =>
          if is_terminal t then Deciding (look E (Some t) m) position (Some t) rest else Over position Refused
      end.

    Definition step (r : run) : run :=
      match r with
      | Deciding m position next rest =>
          let r := decide E m in
          if is_none r then Settling m position next rest
          else if depth m <? pop r then Over position Underflowed
          else Deciding (reduce E r m) position next rest
      | Settling m position None _ => Over position (if output E m then Accepted else Ended)
      | Settling m position (Some _) rest =>
          if shifts E m then enter (shift E m) (S position) rest else Over position Refused
      | Over position how => Over position how
      end.

    (* The observable part of a run: phase, position, next token, stack, and the decision there. *)
    Inductive configuration :=
      | DecidingAt (position : nat) (next : lookahead) (on : list symbol) (decided : reduction)
      | SettledAt (position : nat) (next : lookahead) (on : list symbol) (accepts : bool) (shifted : option bool)
      | OverAt (position : nat) (how : ending).

    Definition observe (r : run) : configuration :=
      match r with
      | Deciding m position next _ => DecidingAt position next (stack E m) (decide E m)
      | Settling m position next _ =>
          SettledAt position next (stack E m) (output E m) (option_map (fun _ => shifts E m) next)
      | Over position how => OverAt position how
      end.

    Definition configuration_after (n : nat) (word : list symbol) : configuration :=
      observe (Nat.iter n step (enter (fresh E) 0 word)).

    (* ** Both describe the same run: a verdict that is not due to a limit of depth or actions is where the steps end *)
    Inductive comes_to : run -> run -> Prop :=
      | Here : forall x, comes_to x x
      | Further : forall x y, comes_to (step x) y -> comes_to x y.

    Lemma comes_to_trans x y z : comes_to x y -> comes_to y z -> comes_to x z.
    Proof. induction 1; [auto | intro; apply Further; auto]. Qed.

    Lemma comes_to_iter x y : comes_to x y -> exists n, Nat.iter n step x = y.
    Proof.
      induction 1 as [x | x y _ (n & IH)]; [exists 0; reflexivity|].
      exists (S n). rewrite <- IH. clear. induction n as [|n IH]; simpl in *; [reflexivity | now rewrite IH].
    Qed.

    Lemma settle_comes_to L p l w n : forall m,
      match settle L n m with
      | inl m' => comes_to (Deciding m p l w) (Settling m' p l w)
      | inr Underflow => comes_to (Deciding m p l w) (Over p Underflowed)
      | inr _ => True
      end.
    Proof.
      induction n as [|n IH]; intro m; simpl; [exact I|].
      destruct (is_none (decide E m)) eqn:N; [apply Further; simpl; rewrite N; apply Here|].
      destruct (depth m <? pop (decide E m)) eqn:U; [apply Further; simpl; rewrite N, U; apply Here|].
      destruct (_ && _); [exact I|]. specialize (IH (reduce E (decide E m) m)).
      destruct (settle L n _) as [m'|[| |]]; try exact I; apply Further; simpl; rewrite N, U; exact IH.
    Qed.

    Theorem verdict_is_reached L word :
      match judge L word with
      | Accept => exists n, configuration_after n word = OverAt (length word) Accepted
      | Incomplete _ => exists n, configuration_after n word = OverAt (length word) Ended
      | Reject p _ => exists n, configuration_after n word = OverAt p Refused
      | Stopped p Underflow => exists n, configuration_after n word = OverAt p Underflowed
      | Stopped _ _ => True
      end.
    Proof.
      assert (All : forall word p m, match judge_from L p m word with
        | Accept => comes_to (enter m p word) (Over (p + length word) Accepted)
        | Incomplete _ => comes_to (enter m p word) (Over (p + length word) Ended)
        | Reject q _ => comes_to (enter m p word) (Over q Refused)
        | Stopped q Underflow => comes_to (enter m p word) (Over q Underflowed)
        | Stopped _ _ => True
        end).
      { clear word. induction word as [|t word IH]; intros p m; simpl.
        - unfold read_end, settle_on.
          pose proof (settle_comes_to L p None [] (actions_at L (depth (look E None m))) (look E None m)) as D.
          destruct (settle L _ _) as [m'|[| |]]; try exact I; [|exact D]. rewrite Nat.add_0_r.
          destruct (output E m') eqn:O; apply (comes_to_trans _ _ _ D), Further; simpl; rewrite O; apply Here.
        - destruct (is_terminal t) eqn:T; [|apply Here]. unfold read, settle_on.
          pose proof (settle_comes_to L p (Some t) word (actions_at L (depth (look E (Some t) m)))
            (look E (Some t) m)) as D.
          destruct (settle L _ _) as [m'|[| |]]; try exact I; [|exact D].
          destruct (shifts E m') eqn:H.
          + destruct (depth_limit L <=? depth m'); [exact I|]. specialize (IH (S p) (shift E m')).
            assert (C : comes_to (Deciding (look E (Some t) m) p (Some t) word) (enter (shift E m') (S p) word))
              by (apply (comes_to_trans _ _ _ D), Further; simpl; rewrite H; apply Here).
            rewrite <- Nat.add_succ_comm.
            destruct (judge_from L (S p) _ word) as [| | |? [| |]]; try exact I; exact (comes_to_trans _ _ _ C IH).
          + apply (comes_to_trans _ _ _ D), Further; simpl; rewrite H; apply Here. }
      specialize (All word 0 (fresh E)). unfold judge, configuration_after.
      destruct (judge_from L 0 (fresh E) word) as [| | |p [| |]]; try exact I;
        apply comes_to_iter in All; destruct All as (n & All); exists n; rewrite All; reflexivity.
    Qed.
  End Run.

  (* ** Two engines that make the same decisions *)

  (* Relations between the memories of two engines: between two tokens, while actions on the stack are decided, and when
     no action is left. *)
  Record simulation (A B : engine) (waiting : memory A -> memory B -> Prop)
      (acting settled : lookahead -> memory A -> memory B -> Prop) : Prop := {
    sim_fresh : waiting (fresh A) (fresh B);
    sim_look : forall l a b, waiting a b -> In l lookaheads -> acting l (look A l a) (look B l b);
    sim_stack : forall l a b, acting l a b -> stack A a = stack B b;
    sim_decide : forall l a b, acting l a b -> decide A a = decide B b;
    sim_reduce : forall l a b, acting l a b -> decide A a <> NONE -> pop (decide A a) <= length (stack A a) ->
      acting l (reduce A (decide A a) a) (reduce B (decide A a) b);
    sim_settle : forall l a b, acting l a b -> decide A a = NONE -> settled l a b;
    sim_settled_stack : forall l a b, settled l a b -> stack A a = stack B b;
    sim_output : forall l a b, settled l a b -> output A a = output B b;
    sim_shifts : forall t a b, settled (Some t) a b -> shifts A a = shifts B b;
    sim_shift : forall t a b, settled (Some t) a b -> shifts A a = true -> waiting (shift A a) (shift B b)
  }.

  Arguments sim_fresh {A B waiting acting settled} _.
  Arguments sim_look {A B waiting acting settled} _.
  Arguments sim_stack {A B waiting acting settled} _.
  Arguments sim_decide {A B waiting acting settled} _.
  Arguments sim_reduce {A B waiting acting settled} _.
  Arguments sim_settle {A B waiting acting settled} _.
  Arguments sim_settled_stack {A B waiting acting settled} _.
  Arguments sim_output {A B waiting acting settled} _.
  Arguments sim_shifts {A B waiting acting settled} _.
  Arguments sim_shift {A B waiting acting settled} _.

  Section Same.
    Variables (A B : engine) (waiting : memory A -> memory B -> Prop).
    Variables acting settled : lookahead -> memory A -> memory B -> Prop.
    Hypothesis sim : simulation A B waiting acting settled.

    Lemma settle_same L l left : forall a b, acting l a b ->
      match settle A L left a, settle B L left b with
      | inl a, inl b => settled l a b
      | inr x, inr y => x = y
      | _, _ => False
      end.
    Proof.
      induction left as [|left IH]; intros a b R; simpl; [reflexivity|].
      rewrite <- (sim_decide sim _ _ _ R).
      destruct (is_none (decide A a)) eqn:N.
      - apply (sim_settle sim); [exact R | apply is_none_spec, N].
      - unfold depth. rewrite <- (sim_stack sim _ _ _ R).
        destruct (length (stack A a) <? pop (decide A a)) eqn:U; [reflexivity|].
        destruct (_ && _); [reflexivity|].
        apply IH, (sim_reduce sim); [exact R | | apply Nat.ltb_ge, U].
        intro N'. apply is_none_spec in N'. congruence.
    Qed.

    Lemma settle_on_same L l a b : waiting a b -> In l lookaheads ->
      match settle_on A L l a, settle_on B L l b with
      | inl a, inl b => settled l a b
      | inr x, inr y => x = y
      | _, _ => False
      end.
    Proof.
      intros R I. unfold settle_on, depth.
      pose proof (sim_look sim _ _ _ R I) as R'.
      rewrite <- (sim_stack sim _ _ _ R'). apply settle_same, R'.
    Qed.

    Lemma read_same L t a b : waiting a b -> is_terminal t = true ->
      match read A L t a, read B L t b with
      | inl (Some a), inl (Some b) => waiting a b
      | inl None, inl None => True
      | inr x, inr y => x = y
      | _, _ => False
      end.
    Proof.
      intros R T. unfold read.
      pose proof (settle_on_same L _ _ _ R (terminal_looked _ T)) as S.
      destruct (settle_on A _ _ a) as [a'|], (settle_on B _ _ b) as [b'|]; try contradiction; [|exact S].
      rewrite <- (sim_shifts sim _ _ _ S). unfold depth.
      rewrite <- (sim_settled_stack sim _ _ _ S).
      destruct (shifts A a') eqn:H; [|exact I].
      destruct (_ <=? _); [reflexivity|]. exact (sim_shift sim _ _ _ S H).
    Qed.

    Lemma read_end_same L a b : waiting a b -> read_end A L a = read_end B L b.
    Proof.
      intro R. unfold read_end. pose proof (settle_on_same L None _ _ R end_looked) as S.
      destruct (settle_on A _ _ a), (settle_on B _ _ b); try contradiction.
      - f_equal. exact (sim_output sim _ _ _ S).
      - f_equal. exact S.
    Qed.

    Lemma expected_same L a b : waiting a b -> expected A L a = expected B L b.
    Proof.
      intro R. unfold expected. apply filter_ext_in. intros [t|] I; unfold fits.
      - pose proof (read_same L t a b R (looked_terminal _ I)) as S.
        destruct (read A _ _ a) as [[?|]|], (read B _ _ b) as [[?|]|]; reflexivity || contradiction.
      - rewrite (read_end_same L a b R). reflexivity.
    Qed.

    Theorem judge_same L word : judge A L word = judge B L word.
    Proof.
      unfold judge. generalize 0 (sim_fresh sim). generalize (fresh A) (fresh B).
      induction word as [|t word IH]; intros a b n R; simpl; rewrite (expected_same L a b R).
      - rewrite (read_end_same L a b R). reflexivity.
      - destruct (is_terminal t) eqn:T; [|reflexivity].
        pose proof (read_same L t a b R T) as S.
        destruct (read A _ _ a) as [[?|]|], (read B _ _ b) as [[?|]|]; try contradiction;
          [apply IH, S | reflexivity | subst; reflexivity].
    Qed.

    (* The relation between two runs without limits. *)
    Definition alike (x : run A) (y : run B) : Prop :=
      match x, y with
      | Deciding _ a p l w, Deciding _ b q k v => acting l a b /\ p = q /\ l = k /\ w = v
      | Settling _ a p l w, Settling _ b q k v => settled l a b /\ p = q /\ l = k /\ w = v
      | Over _ p x, Over _ q y => p = q /\ x = y
      | _, _ => False
      end.

    Lemma enter_alike a b p word : waiting a b -> alike (enter A a p word) (enter B b p word).
    Proof.
      intro R. destruct word as [|t word]; simpl.
      - repeat split. apply (sim_look sim); [exact R | apply end_looked].
      - destruct (is_terminal t) eqn:T; simpl; repeat split.
        apply (sim_look sim); [exact R | apply terminal_looked, T].
    Qed.

    Lemma step_alike x y : alike x y -> alike (step A x) (step B y).
    Proof.
      destruct x as [a p l w|a p l w|p h], y as [b q k v|b q k v|q h']; simpl; try contradiction; [| |auto].
      - intros (R & <- & <- & <-).
        rewrite <- (sim_decide sim _ _ _ R). unfold depth. rewrite <- (sim_stack sim _ _ _ R).
        destruct (is_none (decide A a)) eqn:N; simpl.
        + repeat split. apply (sim_settle sim); [exact R | apply is_none_spec, N].
        + destruct (_ <? _) eqn:U; simpl; repeat split.
          apply (sim_reduce sim); [exact R | | apply Nat.ltb_ge, U].
          intro N'. apply is_none_spec in N'. congruence.
      - intros (R & <- & <- & <-). destruct l as [t|].
        + rewrite <- (sim_shifts sim _ _ _ R).
          destruct (shifts A a) eqn:H; [|simpl; auto].
          apply enter_alike. exact (sim_shift sim _ _ _ R H).
        + simpl. rewrite (sim_output sim _ _ _ R). auto.
    Qed.

    Lemma observe_alike x y : alike x y -> observe A x = observe B y.
    Proof.
      destruct x as [a p l w|a p l w|p h], y as [b q k v|b q k v|q h']; simpl; try contradiction.
      - intros (R & <- & <- & <-).
        now rewrite (sim_stack sim _ _ _ R), (sim_decide sim _ _ _ R).
      - intros (R & <- & <- & <-).
        rewrite (sim_settled_stack sim _ _ _ R), (sim_output sim _ _ _ R).
        destruct l as [t|]; simpl; [|reflexivity]. now rewrite (sim_shifts sim _ _ _ R).
      - intros (<- & <-). reflexivity.
    Qed.

    Theorem configurations_same n word : configuration_after A n word = configuration_after B n word.
    Proof.
      apply observe_alike. induction n as [|n IH]; simpl.
      - apply enter_alike, (sim_fresh sim).
      - apply step_alike, IH.
    Qed.
  End Same.
End Alphabet.
