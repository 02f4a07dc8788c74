(* The machine (machine/session.rs, machine/stack.rs) over arbitrary state spaces, and the sets that contain every state
   that it can reach after a suffix (certify/enclose.rs). *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach.

(* The machine's view of its input: only the next token, or the state of a reservoir that reads the whole input. *)
Inductive view (seen : Type) :=
  | SymbolView (features : lookahead -> seen)
  | ReservoirView (step_input : seen -> lookahead -> seen).
Arguments SymbolView {seen}.
Arguments ReservoirView {seen}.

(* The readouts that decide on pop and push: one for each, or one for both. *)
Inductive act_readouts (seen state : Type) :=
  | Separate (pop_readout : seen -> state -> nat) (push_readout : seen -> state -> option symbol)
  | Joint (act_readout : seen -> state -> reduction).
Arguments Separate {seen state}.
Arguments Joint {seen state}.

Record machine := {
  seen : Type;    (* states of the input *)
  state : Type;   (* states of the stack *)
  input_zero : seen;
  stack_zero : state;
  stack_step : state -> symbol -> state;   (* Reservoir::step on a symbol's channel *)
  sight : view seen;
  act_readout_of : act_readouts seen state;
  shift_readout : seen -> state -> bool;
  output_readout : seen -> state -> bool
}.

Section Machine.
  Variable M : machine.

  Definition choose (h : seen M) (g : state M) : reduction :=
    match act_readout_of M with
    | Separate p q => {| pop := p h g; push := q h g |}
    | Joint j => j h g
    end.

  (* MachineStack: each symbol with the state of the stack up to it, the state of the input, and the lookahead. *)
  Record kept := { on_stack : list (symbol * state M); input : seen M; ahead : lookahead }.

  Definition stack_state (list : list (symbol * state M)) : state M :=
    match list with [] => stack_zero M | (_, g) :: _ => g end.

  Definition put (s : symbol) (list : list (symbol * state M)) : Datatypes.list (symbol * state M) :=
    (s, stack_step M (stack_state list) s) :: list.

  Definition runner : engine := {|
    memory := kept;
    fresh := {| on_stack := []; input := input_zero M; ahead := None |};
    look l m := {|
      on_stack := on_stack m;
      input := match sight M with SymbolView f => f l | ReservoirView step => step (input m) l end;
      ahead := l
    |};
    decide m := choose (input m) (stack_state (on_stack m));
    stack m := map fst (on_stack m);
    reduce r m :=
      let popped := skipn (pop r) (on_stack m) in {|
        on_stack := match push r with Some s => put s popped | None => popped end;
        input := input m;
        ahead := ahead m
      |};
    output m := output_readout M (input m) (stack_state (on_stack m));
    shifts m := shift_readout M (input m) (stack_state (on_stack m));
    shift m := {|
      on_stack := match ahead m with Some t => put t (on_stack m) | None => on_stack m end;
      input := input m;
      ahead := ahead m
    |}
  |}.

  (* ** States are functions of the symbols that were read (reservoir/network.rs, [encode]) *)

  (* The state after these symbols, last one first, starting from [g]. *)
  Fixpoint stack_after (g : state M) (st : list symbol) : state M :=
    match st with [] => g | s :: st => stack_step M (stack_after g st) s end.
  Definition encode := stack_after (stack_zero M).

  Lemma stack_after_app g upper lower :
    stack_after g (upper ++ lower) = stack_after (stack_after g lower) upper.
  Proof. induction upper as [|s upper IH]; simpl; [reflexivity | now rewrite IH]. Qed.

  (* The representation of a stack in the machine. *)
  Fixpoint with_states (st : list symbol) : list (symbol * state M) :=
    match st with [] => [] | s :: beneath => (s, encode st) :: with_states beneath end.

  Lemma with_states_top st : stack_state (with_states st) = encode st.
  Proof. destruct st; reflexivity. Qed.

  Lemma with_states_put s st : put s (with_states st) = with_states (s :: st).
  Proof. unfold put. rewrite with_states_top. reflexivity. Qed.

  Lemma with_states_skipn count : forall st, skipn count (with_states st) = with_states (skipn count st).
  Proof. induction count as [|count IH]; intros [|s st]; simpl; auto. Qed.

  Lemma with_states_symbols st : map fst (with_states st) = st.
  Proof. induction st as [|s st IH]; simpl; [reflexivity | now rewrite IH]. Qed.

  (* The state of the input after these tokens, last one first. *)
  Fixpoint input_after (step : seen M -> lookahead -> seen M) (h : seen M) (before : list symbol) : seen M :=
    match before with [] => h | t :: before => step (input_after step h before) (Some t) end.

  Lemma input_after_app step h late early :
    input_after step h (late ++ early) = input_after step (input_after step h early) late.
  Proof. induction late as [|t late IH]; simpl; [reflexivity | now rewrite IH]. Qed.

  (* The machine's view of an input that consists of these tokens and then the lookahead. *)
  Definition sees (before : list symbol) (next : lookahead) : seen M :=
    match sight M with
    | SymbolView f => f next
    | ReservoirView step => step (input_after step (input_zero M) before) next
    end.

  (* ** Sets of states *)
  Variables terminals symbols : nat.
  Variable any_stack : state M -> Prop.   (* Encloser::anything, for the stack *)
  Variable any_input : seen M -> Prop.    (* and for the input *)

  (* Both sets contain the zero state and all successors of their own states. *)
  Record invariant : Prop := {
    any_stack_zero : any_stack (stack_zero M);
    any_stack_step : forall g s, s < symbols -> any_stack g -> any_stack (stack_step M g s);
    any_input_zero : any_input (input_zero M);
    any_input_step : forall step h t, sight M = ReservoirView step -> is_terminal terminals t = true ->
      any_input h -> any_input (step h (Some t))
  }.

  (* Look: the lookahead, the tokens before it, last one first, and whether these are all tokens. *)
  Record looked := { next : lookahead; before : list symbol; whole_input : bool }.

  (* Bounds::stack: the states of all stacks with this suffix, or of exactly this stack if [whole]. *)
  Definition stack_set (st : list symbol) (whole : bool) (g : state M) : Prop :=
    exists start, (if whole then start = stack_zero M else any_stack start) /\ g = stack_after start st.

  (* Bounds::input: the machine's view of all inputs with this suffix. *)
  Definition input_set (k : looked) (h : seen M) : Prop :=
    match sight M with
    | SymbolView f => h = f (next k)
    | ReservoirView step =>
        exists start, (if whole_input k then start = input_zero M else any_input start)
          /\ h = step (input_after step start (before k)) (next k)
    end.

  Hypothesis inv : invariant.

  Lemma encode_any st : Forall (fun s => s < symbols) st -> any_stack (encode st).
  Proof.
    induction 1; simpl; [apply (any_stack_zero inv) | apply (any_stack_step inv); assumption].
  Qed.

  Lemma stack_in_set upper lower whole : Forall (fun s => s < symbols) lower -> (whole = true -> lower = []) ->
    stack_set upper whole (encode (upper ++ lower)).
  Proof.
    intros K W. exists (encode lower). split; [|apply stack_after_app].
    destruct whole; [rewrite W by reflexivity; reflexivity | apply encode_any, K].
  Qed.

  Lemma input_in_set k early : of_terminals terminals early -> (whole_input k = true -> early = []) ->
    input_set k (sees (before k ++ early) (next k)).
  Proof.
    intros T W. unfold input_set, sees. destruct (sight M) as [f|step] eqn:V; [reflexivity|].
    exists (input_after step (input_zero M) early). rewrite input_after_app. split; [|reflexivity].
    destruct (whole_input k); [rewrite W by reflexivity; reflexivity|]. clear W.
    induction T; simpl; [apply (any_input_zero inv) | apply (any_input_step inv); auto].
  Qed.
End Machine.
