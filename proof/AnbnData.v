(* Symbols: 0 is a, 1 is b, 2 is S. Made by to_coq.py. *)
Require Import List.
Import ListNotations.
Require Import Echostack.Run Echostack.Reach Echostack.Machine Echostack.Agreement.
Require Import Echostack.Check Echostack.Rules.

Definition terminals : nat := 2.

Definition symbols : nat := 3.

Definition tokens : nat := 0.

Definition asked : list readout := [PopReadout; PushReadout; OutputReadout; ShiftReadout].

Definition its_rules : list rule := [
  (Build_rule false [1; 2; 0] None 3 2);
  (Build_rule false [0] (Some (Some 1)) 0 2)
].

Definition its_rows : list (list nat) := [
  [1; 2; 3];
  [1; 2; 4];
  [2; 2; 2];
  [2; 2; 2];
  [2; 3; 2]
].

Definition the_rules : rules := (Build_rules its_rules [2] its_rows [true; true; false; true; true]).

Definition elements : list (nat * symbol) := [(0, 0); (1, 2); (2, 1); (1, 0); (4, 2); (4, 0); (0, 2)].

Definition heads : list (control * nat * place) := [
  ((Next 0), 0, 0);
  ((Reduce 0 (Some 0)), 0, 0);
  ((Reduce 0 (Some 1)), 0, 0);
  ((Reduce 0 None), 0, 0);
  ((Settled 0 (Some 0)), 0, 0);
  ((Settled 0 (Some 1)), 0, 0);
  ((Settled 0 None), 0, 0);
  ((Next 0), 1, 1);
  ((Reduce 0 (Some 0)), 1, 1);
  ((Reduce 0 (Some 1)), 1, 1);
  ((Reduce 0 (Some 1)), 2, 2);
  ((Settled 0 (Some 1)), 2, 2);
  ((Reduce 0 None), 1, 1);
  ((Settled 0 (Some 0)), 1, 1);
  ((Next 0), 3, 3);
  ((Settled 0 None), 1, 1);
  ((Next 0), 4, 4);
  ((Reduce 0 (Some 0)), 3, 3);
  ((Reduce 0 (Some 1)), 3, 3);
  ((Reduce 0 None), 3, 3);
  ((Reduce 0 (Some 0)), 4, 4);
  ((Reduce 0 (Some 1)), 4, 4);
  ((Reduce 0 (Some 1)), 5, 5);
  ((Settled 0 (Some 1)), 5, 5);
  ((Reduce 0 None), 4, 4);
  ((Settled 0 (Some 0)), 4, 4);
  ((Settled 0 None), 4, 4);
  ((Popping 0 (Some 0) 2 2), 2, 2);
  ((Popping 0 (Some 0) 2 2), 5, 5);
  ((Popping 0 (Some 1) 2 2), 2, 2);
  ((Popping 0 (Some 1) 2 2), 5, 5);
  ((Popping 0 None 2 2), 2, 2);
  ((Popping 0 None 2 2), 5, 5);
  ((Next 0), 6, 6);
  ((Reduce 0 (Some 0)), 6, 6);
  ((Reduce 0 (Some 1)), 6, 6);
  ((Reduce 0 None), 6, 6);
  ((Settled 0 (Some 0)), 6, 6);
  ((Settled 0 None), 6, 6);
  ((Popping 0 (Some 0) 1 2), 1, 1);
  ((Popping 0 (Some 0) 1 2), 4, 4);
  ((Popping 0 (Some 1) 1 2), 1, 1);
  ((Popping 0 (Some 1) 1 2), 4, 4);
  ((Popping 0 None 1 2), 1, 1);
  ((Popping 0 None 1 2), 4, 4);
  ((Popping 0 (Some 0) 1 2), 6, 6);
  ((Popping 0 (Some 1) 1 2), 6, 6);
  ((Popping 0 None 1 2), 6, 6);
  ((Popping 0 (Some 0) 0 2), 0, 0);
  ((Reduce 0 (Some 0)), 7, 7);
  ((Settled 0 (Some 0)), 7, 7);
  ((Popping 0 (Some 1) 0 2), 0, 0);
  ((Reduce 0 (Some 1)), 7, 8);
  ((Settled 0 (Some 1)), 7, 8);
  ((Popping 0 None 0 2), 0, 0);
  ((Reduce 0 None), 7, 9);
  ((Settled 0 None), 7, 9);
  ((Popping 0 (Some 0) 0 2), 1, 1);
  ((Reduce 0 (Some 0)), 2, 10);
  ((Settled 0 (Some 0)), 2, 10);
  ((Popping 0 (Some 1) 0 2), 1, 1);
  ((Popping 0 None 0 2), 1, 1);
  ((Reduce 0 None), 2, 11);
  ((Settled 0 None), 2, 11);
  ((Popping 0 (Some 0) 0 2), 4, 4);
  ((Reduce 0 (Some 0)), 5, 12);
  ((Settled 0 (Some 0)), 5, 12);
  ((Popping 0 (Some 0) 0 2), 6, 6);
  ((Popping 0 (Some 1) 0 2), 4, 4);
  ((Popping 0 (Some 1) 0 2), 6, 6);
  ((Popping 0 None 0 2), 4, 4);
  ((Reduce 0 None), 5, 13);
  ((Settled 0 None), 5, 13);
  ((Popping 0 None 0 2), 6, 6)
].

Definition unders : list (place * nat * place) := [
  (1, 0, 0);
  (3, 2, 2);
  (2, 1, 1);
  (4, 1, 1);
  (3, 5, 5);
  (5, 4, 4);
  (6, 4, 4);
  (5, 6, 6);
  (6, 6, 6);
  (7, 0, 0);
  (8, 0, 0);
  (9, 0, 0);
  (10, 1, 1);
  (11, 1, 1);
  (12, 4, 4);
  (12, 6, 6);
  (13, 4, 4);
  (13, 6, 6)
].

Definition cells : list cell := [
  (Build_cell [] false [] []);
  (Build_cell [] true [] [(pair PopReadout (Build_looked (Some 0) [] false)); (pair PushReadout (Build_looked (Some 0) [] false)); (pair OutputReadout (Build_looked (Some 0) [] false)); (pair ShiftReadout (Build_looked (Some 0) [] false)); (pair PopReadout (Build_looked (Some 1) [] false)); (pair PushReadout (Build_looked (Some 1) [] false)); (pair OutputReadout (Build_looked (Some 1) [] false)); (pair ShiftReadout (Build_looked (Some 1) [] false)); (pair PopReadout (Build_looked None [] false)); (pair PushReadout (Build_looked None [] false)); (pair OutputReadout (Build_looked None [] false))]);
  (Build_cell [0] false [] [(pair PopReadout (Build_looked (Some 0) [] false)); (pair PushReadout (Build_looked (Some 0) [] false)); (pair OutputReadout (Build_looked (Some 0) [] false)); (pair PopReadout (Build_looked (Some 1) [] false)); (pair PushReadout (Build_looked (Some 1) [] false)); (pair PopReadout (Build_looked None [] false)); (pair PushReadout (Build_looked None [] false)); (pair OutputReadout (Build_looked None [] false))]);
  (Build_cell [1] false [] [(pair PopReadout (Build_looked (Some 0) [] false)); (pair PushReadout (Build_looked (Some 0) [] false)); (pair PopReadout (Build_looked (Some 1) [] false)); (pair PushReadout (Build_looked (Some 1) [] false)); (pair PopReadout (Build_looked None [] false)); (pair PushReadout (Build_looked None [] false))]);
  (Build_cell [2] false [] [(pair PopReadout (Build_looked (Some 0) [] false)); (pair PushReadout (Build_looked (Some 0) [] false)); (pair ShiftReadout (Build_looked (Some 0) [] false)); (pair PopReadout (Build_looked (Some 1) [] false)); (pair PushReadout (Build_looked (Some 1) [] false)); (pair PopReadout (Build_looked None [] false)); (pair PushReadout (Build_looked None [] false))]);
  (Build_cell [0] true [] [(pair ShiftReadout (Build_looked (Some 0) [] false))]);
  (Build_cell [0; 0] false [] [(pair ShiftReadout (Build_looked (Some 0) [] false))]);
  (Build_cell [2] true [] [(pair OutputReadout (Build_looked (Some 0) [] false)); (pair OutputReadout (Build_looked (Some 1) [] false)); (pair ShiftReadout (Build_looked (Some 1) [] false)); (pair OutputReadout (Build_looked None [] false))]);
  (Build_cell [2; 0] false [] [(pair OutputReadout (Build_looked (Some 0) [] false)); (pair OutputReadout (Build_looked (Some 1) [] false)); (pair ShiftReadout (Build_looked (Some 1) [] false)); (pair OutputReadout (Build_looked None [] false))])
].

Definition the_certificate : certificate known := certificate_of (strict the_rules) elements heads unders cells.
