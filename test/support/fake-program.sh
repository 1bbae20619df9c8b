#!/bin/bash
# Stands for each program that a workflow or a script calls. Adds its call to the file $CALLS, with the variables that
# matter. Then it prints a value, or fails if this call begins with $FAILS.
call="${0##*/}${*:+ $*}"
for name in CI GH_TOKEN ${!PLANT_STORE_*} ${!PROPERTY_*} SHUFFLE; do
  [[ $call =~ ^(npm|gh) && -n ${!name} ]] && call+=" $name=${!name}"
done
# A loop that a broken script leaves ends with the folder of the calls.
echo "$call" >> "$CALLS" || kill "$PPID"
# A deployment ends when $RUNS smoke tests have begun. A smoke test can take longer.
[[ $call = "npx cdk deploy"* ]] && until [[ $(grep -c ' smoke ' "$CALLS") -ge $RUNS ]]; do /bin/sleep 0.01; done
[[ $call = *" smoke "* ]] && /bin/sleep "${SMOKE_TAKES:-0}"
[[ -z $FAILS || $call != "$FAILS"* ]] && echo "from-${0##*/}"
