#!/bin/bash
# Stands for each program that a workflow or a script calls. Writes its call to stderr, and with npm's calls the
# variables that matter. Then it prints a value, or fails if $FAILS is this call.
call="${0##*/}${*:+ $*}"
case $call in
  # Without these variables, gh ends with an error on GitHub, and Vitest writes a snapshot that is missing.
  gh*) : "${GH_TOKEN:?}" ;;
  npm\ test*) : "${CI:?}" ;;
esac
if [[ $call = npm* ]]; then
  for name in ${!PLANT_STORE_*} ${!PROPERTY_*} ${!SHUFFLE*}; do call+=" $name=${!name}"; done
fi
echo "$call" >&2
[[ $call != "$FAILS" ]] && echo "from-${0##*/}"
