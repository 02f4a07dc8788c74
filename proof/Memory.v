(* Memory as in automaton/reach.rs: a number in base (number of terminals + 1) whose lowest digit is the last token,
   truncated to a fixed number of tokens. Whatever it recalls is true. *)

Require Import List Arith Bool Lia.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach.

Definition memory_of (base tokens : nat) : remembering := {|
  remember h t := (h * base + S t) mod base ^ tokens;
  recall h back := if back <? tokens then
      match (h / base ^ back) mod base with 0 => Beginning | S t => Token t end
    else Forgotten
|}.

Section Memory.
  Variables terminals tokens : nat.
  Notation base := (S terminals).

  Fixpoint number (before : list symbol) : nat :=
    match before with [] => 0 | t :: before => number before * base + S t end.

  Lemma recent_number before : recent (memory_of base tokens) before = number before mod base ^ tokens.
  Proof.
    assert (P : base ^ tokens <> 0) by (apply Nat.pow_nonzero; discriminate).
    induction before as [|t before IH]; simpl recent; simpl number.
    - symmetry. apply Nat.mod_0_l, P.
    - rewrite IH. rewrite <- (Nat.add_mod_idemp_l (number before * base) (S t) (base ^ tokens)) by exact P.
      rewrite <- (Nat.mul_mod_idemp_l (number before) base (base ^ tokens)) by exact P.
      rewrite Nat.add_mod_idemp_l by exact P. reflexivity.
  Qed.

  (* Truncating a number does not change the digits that remain. *)
  Lemma digit_of_mod n back : back < tokens ->
    ((n mod base ^ tokens) / base ^ back) mod base = (n / base ^ back) mod base.
  Proof.
    intro B. assert (P : forall k, base ^ k <> 0) by (intro; apply Nat.pow_nonzero; discriminate).
    replace tokens with (back + S (tokens - back - 1)) by lia.
    rewrite Nat.pow_add_r, Nat.mod_mul_r by auto.
    rewrite Nat.mul_comm, Nat.div_add, (Nat.div_small (n mod base ^ back)) by (auto using Nat.mod_upper_bound).
    rewrite Nat.add_0_l, Nat.pow_succ_r', Nat.mod_mul_r by auto.
    rewrite Nat.mul_comm, Nat.mod_add by discriminate. apply Nat.mod_mod. discriminate.
  Qed.

  Lemma digit_of_number before : of_terminals terminals before -> forall back,
    (number before / base ^ back) mod base = match nth_error before back with Some t => S t | None => 0 end.
  Proof.
    induction 1 as [|t before T _ IH]; intro back.
    - simpl number. rewrite Nat.div_0_l, Nat.mod_0_l by (discriminate || (apply Nat.pow_nonzero; discriminate)).
      destruct back; reflexivity.
    - assert (T' : S t < base) by (apply Nat.ltb_lt in T; lia).
      simpl number. destruct back as [|back].
      + rewrite Nat.pow_0_r, Nat.div_1_r, Nat.add_comm, Nat.mod_add, Nat.mod_small by (lia || discriminate).
        reflexivity.
      + rewrite Nat.pow_succ_r', <- Nat.div_div by (discriminate || (apply Nat.pow_nonzero; discriminate)).
        rewrite Nat.div_add_l, (Nat.div_small (S t)), Nat.add_0_r by (exact T' || discriminate). apply IH.
  Qed.

  Theorem memory_truthful : truthful terminals (memory_of base tokens).
  Proof.
    intros before back T. unfold memory_of at 1. cbn [recall].
    destruct (back <? tokens) eqn:B; [|exact I]. apply Nat.ltb_lt in B.
    rewrite recent_number, digit_of_mod, digit_of_number by assumption.
    destruct (nth_error before back) eqn:N; [reflexivity | apply nth_error_None, N].
  Qed.
End Memory.
