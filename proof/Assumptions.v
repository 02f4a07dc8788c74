(* The theorems depend on nothing but their hypotheses. The script `check` fails if anything else is printed. *)

Require Import Echostack.Run Echostack.Memory Echostack.Agreement Echostack.Check Echostack.Rules Echostack.Anbn.

Print Assumptions machine_agrees.
Print Assumptions certificate_agrees.
Print Assumptions rules_agree.
Print Assumptions anbn_agrees.
Print Assumptions memory_truthful.
Print Assumptions verdict_is_reached.
