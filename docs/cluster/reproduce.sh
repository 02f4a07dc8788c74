#!/bin/sh
# Runs shard $1 of $2, on as many machines with one folder as you like, or on one:
#   for shard in 1 2 3 4; do ssh "node$shard" "cd $PWD && sh reproduce.sh $shard 4" & done; wait
#   echostack lab reproduce --merge reproduction/record-*-of-4.jsonl -o reproduction
exec echostack lab reproduce --models reservoir --shard "$1/$2" -o reproduction
