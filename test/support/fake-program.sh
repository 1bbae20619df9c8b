#!/bin/bash
# Stands for each program that a workflow or a script calls. Adds its call to the file $CALLS, with the variables that
# matter. Then it prints a value, that of $AWS_PRINTS or $GH_PRINTS, or fails if this call begins with $FAILS.
call="${0##*/}${*:+ $*}"
for name in CI GH_TOKEN ${!PLANT_STORE_*} ${!PROPERTY_*} SHUFFLE; do
  [[ $call =~ ^(npm|gh) && -n ${!name} ]] && call+=" $name=${!name}"
done
# A loop that a broken script leaves ends with the folder of the calls.
echo "$call" >> "$CALLS" || kill "$PPID"
# A deployment ends some time after $RUNS smoke tests have begun. A smoke test can take longer.
if [[ $call = "npx cdk deploy"* ]]; then
  until [[ $(grep -c ' smoke ' "$CALLS") -ge $RUNS ]]; do /bin/sleep 0.01; done
  /bin/sleep "${DEPLOYMENT_TAKES:-0}"
fi
[[ $call = *" smoke "* ]] && /bin/sleep "${SMOKE_TAKES:-0}"
case ${0##*/} in aws) prints=${AWS_PRINTS-from-aws} ;; gh) prints=${GH_PRINTS-from-gh} ;; *) prints=from-${0##*/} ;; esac
[[ -z $FAILS || $call != "$FAILS"* ]] && echo "$prints"
