#!/usr/bin/env bash
# Shows the service on AWS: deploys it as the stage `trial`, uses it, breaks it, measures it, and destroys it
# (docs/deploying.md, "A trial"). The titles of the AWS pages that a step relies on are in quotation marks.
set -uo pipefail

usage() {
  cat <<'END'
Usage: npm run trial -- [--yes] [--keep] [--resume] [--report FILE]
       npm run trial -- --destroy [--yes]

Deploys the service as the stack PlantStore-trial, uses it, breaks it, measures it, and destroys it.
  --yes          does not ask
  --keep         does not destroy the stack
  --resume       repeats all steps in a stack that exists
  --report FILE  writes the table of results to a file
  --destroy      only destroys the stack
END
}

YES='' KEEP='' RESUME='' DESTROY='' REPORT=/dev/null
while [ $# -gt 0 ]; do
  case $1 in
    --yes) YES=1 ;;
    --keep) KEEP=1 ;;
    --resume) RESUME=1 ;;
    --destroy) DESTROY=1 ;;
    --report) REPORT=${2:?The file is missing.} && shift ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 1 ;;
  esac
  shift
done
[ -z "$DESTROY" ] || [ -z "$KEEP$RESUME" ] || { usage >&2 && exit 1; }

export AWS_REGION=${AWS_REGION:?It must be the name of a region.} STAGE=trial HOURS=2
# It prints an error if there is no stack.
source docs/operations.sh >/dev/null 2>&1
ACCOUNT=$(aws sts get-caller-identity --query Account --output text) || exit
if [ -z "$RESUME$DESTROY" ] && stack StackId >/dev/null 2>&1; then
  echo "The stack $STACK exists. Use --resume or --destroy." >&2
  exit 1
fi
echo "Account $ACCOUNT, region $AWS_REGION"
[ -n "$DESTROY" ] || echo "This deploys the stack $STACK and uses it for about an hour. It costs less than a dollar."
[ -n "$KEEP" ] || echo "In the end, this destroys the stack $STACK with its data."
[ -n "$YES" ] || { read -rp 'Go on? [y/N] ' && [ "$REPLY" = y ]; } || exit

COPY=$(mktemp -d) BEGIN=$(date +%s) TABLE='' FAILED=0 DEPLOYMENT=''
LAST=$BEGIN PLANT='{"id":1,"name":"Aloe"}'

# Adds a row to the table. Fails if what was seen is not what was expected.
row() {
  local seen result=ok now
  seen=$(tr -s '[:space:]' ' ' <<<"$3" | sed 's/ $//')
  matches "$2" "$seen" || result='**differs**' FAILED=1
  now=$(date +%s)
  TABLE+="| $1 | \`$2\` | \`$seen\` | $((now - LAST)) | $result |"$'\n' LAST=$now
  echo "$result: $1: $seen" >&2
  [ "$result" = ok ]
}

# Compares a text with a pattern in which * is any text, and "at least NUMBER" that number or a larger one.
matches() {
  local number=${2%%[!0-9]*}
  # shellcheck disable=SC2053 # Without quotation marks, it is a pattern.
  if [[ $1 == 'at least '* ]]; then [ "${number:-0}" -ge "${1#at least }" ]; else [[ $2 == $1 ]]; fi
}

# Adds a row with the output of a command. Logs and metrics arrive late: repeats the command for up to ten minutes.
later() {
  local seen end
  end=$(($(date +%s) + 600))
  until seen=$("${@:3}") && matches "$2" "$seen" || [ "$(date +%s)" -ge "$end" ]; do sleep 15; done
  row "$1" "$2" "$seen"
}

# Prints the version that clients get, and during a canary the new one with its share: 1 2:0.1
versions() { live | grep -Eo '"[0-9]+"(: [0-9.]+)?' | tr -d '" ' | paste -sd ' ' -; }

# Adds the statement $1 to the code, and deploys it as a new version. Until the deployment ends, runs the command $2
# every 5 s. Passes all other arguments to cdk. Sets RESULT, VERSIONS, and for how many MINUTES there was a canary.
deploy() {
  local begin='' end=0
  cp functions/create-plant/index.ts "$COPY/functions/create-plant"
  echo "$1" >>"$COPY/functions/create-plant/index.ts"
  # Not npx, which does not pass on a signal. npm has put cdk on the PATH.
  (cd "$COPY" && exec cdk deploy -c "stage=$STAGE" --require-approval never "${@:3}") >&2 &
  DEPLOYMENT=$! RESULT=deployed
  while kill -0 "$DEPLOYMENT" 2>/dev/null; do
    VERSIONS=$(versions 2>/dev/null)
    if [[ $VERSIONS == *:0.1 ]]; then end=$(date +%s) begin=${begin:-$end}; fi
    "$2"
    sleep 5
  done
  wait "$DEPLOYMENT" || RESULT=failed
  DEPLOYMENT='' VERSIONS=$(versions) MINUTES=$(((end - ${begin:-$end} + 15) / 60))
}

# Sends requests with the token. The arguments are curl's; the last one is what follows the base URL. With -Z, curl can
# print its progress in spite of -s.
send() {
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "${@:1:$#-1}" "$URL${*: -1}" \
    2>/dev/null
}

# Sends a request. Prints the status and the beginning of the body.
respond() { send -o "$COPY/response" -w '%{http_code} ' "$@" && head -c 60 "$COPY/response"; }

# Sends ten requests for which the broken version fails.
fail() { send -o /dev/null -d '{"id":2,"name":"Fail"}' '/plants?[1-10]'; }

# Stops the release if it is in its canary (docs/operations.md, "Roll back").
stop() {
  local id
  [[ $VERSIONS != *:0.1 ]] || for id in $(releases | awk '$2 == "InProgress" { print $3 }'); do
    aws deploy stop-deployment --auto-rollback-enabled --deployment-id "$id" >/dev/null
  done
}

# Prints how many lines with seconds there are, and their percentiles.
percentiles() {
  sort -n | awk '{ s[NR] = $1 } END { print NR " requests, p50 " s[int(NR / 2)] " s, p99 " s[int(NR * 0.99)] " s" }'
}

# Prints the number of invocations that the condition $1 selects, and their times ("Lambda Telemetry API Event schema
# reference").
invocations() {
  query faults "filter type = \"platform.report\" and $1 | stats count(*) as invocations, $2
    pct(record.metrics.durationMs, 50) as p50, pct(record.metrics.durationMs, 99) as p99" | sed 's/^invocations=//'
}

# Prints the number of lines that a saved query finds.
lines() { query "$1" | grep -c .; }

# Prints a metric's sum since the trial began.
metric() {
  aws cloudwatch get-metric-statistics --namespace "$1" --metric-name "$2" --start-time "$BEGIN" \
    --end-time "$(date +%s)" --period 3600 --statistics Sum --output text --query 'sum(Datapoints[].Sum)' "${@:3}"
}

# Prints the role with which API Gateway writes the logs of this account and region, or None.
logs_role() { aws apigateway get-account --query cloudwatchRoleArn --output text; }

# Deletes the stack and what it retains. Prints what it could not delete.
destroy() {
  local id type name
  id=$(stack StackId 2>/dev/null) || return
  echo "Destroying $STACK, in about ten minutes" >&2
  # A stack that is changing cannot be deleted. A canary ends after ten minutes.
  while [[ $(stack StackStatus) =~ (CREATE|UPDATE|ROLLBACK|CLEANUP)_IN_PROGRESS ]]; do sleep 15; done
  # CloudFormation uses the role that it has from the CDK ("DeleteStack").
  aws cloudformation delete-stack --stack-name "$id"
  aws cloudformation wait stack-delete-complete --stack-name "$id"
  # For 90 days, the id of a deleted stack finds its resources ("ListStackResources").
  aws cloudformation list-stack-resources --stack-name "$id" --output text \
    --query "StackResourceSummaries[?ResourceStatus!='DELETE_COMPLETE'].[ResourceType, PhysicalResourceId]" |
    while read -r type name; do remove "$type" "$name" </dev/null >/dev/null || echo "$name"; done
}

# Deletes a resource that the stack has retained. Its versions were deleted with the function ("DeleteFunction").
remove() {
  case $1 in
    AWS::DynamoDB::Table)
      aws dynamodb update-table --table-name "$2" --no-deletion-protection-enabled &&
        aws dynamodb wait table-exists --table-name "$2" && aws dynamodb delete-table --table-name "$2" &&
        aws dynamodb wait table-not-exists --table-name "$2"
      ;;
    AWS::Logs::LogGroup) aws logs delete-log-group --log-group-name "$2" ;;
    AWS::KMS::Key) aws kms schedule-key-deletion --key-id "$2" --pending-window-in-days 7 ;;
    AWS::IAM::Role)
      if [[ $(logs_role) == */"$2" ]]; then
        aws apigateway update-account --patch-operations op=replace,path=/cloudwatchRoleArn,value= || return
      fi
      aws iam detach-role-policy --role-name "$2" \
        --policy-arn arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs &&
        aws iam delete-role --role-name "$2"
      ;;
  esac
}

# Prints what is left, by the names that CloudFormation gives.
left() {
  stack StackName 2>/dev/null
  aws lambda list-functions --output text --query "Functions[?starts_with(FunctionName, '$STACK-')].FunctionName"
  aws dynamodb list-tables --output text --query "TableNames[?starts_with(@, '$STACK-')]"
  aws logs describe-log-groups --log-group-name-prefix "$STACK-" --output text --query 'logGroups[].logGroupName'
  aws iam list-roles --output text --query "Roles[?starts_with(RoleName, '$STACK-')].RoleName"
}

# Runs in the end, also after a failure or Ctrl-C.
finish() {
  local status=$? rest
  trap '' HUP INT TERM
  [ -z "$DEPLOYMENT" ] || { kill "$DEPLOYMENT" && wait "$DEPLOYMENT"; }
  [ "$status" -le 1 ] || row 'The trial' 'runs to its end' "ends with status $status"
  if [ -z "$KEEP" ]; then
    rest=$({ destroy; left; } | grep .)
    row 'What is left' nothing "${rest:-nothing}"
  fi
  rm -rf "$COPY"
  sed "s/$ACCOUNT/ACCOUNT/g" <<END | tee "$REPORT"
# Seen on AWS

On $(date -u +%F) in $AWS_REGION, \`npm run trial\` of version $(sed -n 's/^  version: //p' openapi.yaml), commit
$(git describe --always --dirty). In the second column, \`*\` is any text.

| step | expected | seen | seconds | result |
| --- | --- | --- | --- | --- |
$TABLE
END
  exit $((status > FAILED ? status : FAILED))
}
trap finish EXIT
trap 'exit 130' HUP INT TERM
# The trap destroys the stack.
[ -z "$DESTROY" ] || exit 0

# What is deployed is a copy of the code that has only the trial's stage. A role that the account has stays.
git ls-files | tar -cf - -T - | tar -xf - -C "$COPY"
ln -s "$PWD/node_modules" "$COPY"
case $(logs_role) in None | */"$STACK"-*) ROLE=true ;; *) ROLE=false ;; esac
echo "export const stages = { $STAGE: { allowOrigins: ['https://app.example'], cloudWatchRole: $ROLE,
  requestsPerSecond: 20 } };" >"$COPY/infra/stages.ts"

deploy '' :
row 'The first deployment' 'deployed, version [0-9]*' "$RESULT, version $VERSIONS" || exit
VERSION=${VERSIONS%% *} URL=$(output ApiUrl) NAME=trial-$BEGIN
TOKEN=$(npm run --silent token -- create --name "$NAME" --expires 1d --stack "$STACK")
PLANT_STORE_URL=$URL PLANT_STORE_TOKEN=$TOKEN PLANT_STORE_WAIT=1800 npm run --silent smoke >&2
row 'The smoke test' 'status 0' "status $?" || exit

# Lambda uses no number of a version twice ("Manage Lambda function versions").
deploy "handler.before(({ event }) => {
  if ((event as CreatePlantEvent).body.name === 'Fail') throw new Error('Fail');
});" fail
row 'A release that is broken' "failed, version $VERSION" "$RESULT, version $VERSIONS"
row 'What stopped it' "*alarm*CurrentVersion $VERSION TargetVersion $((VERSION + 1))" \
  "$(release "$(releases | tail -n 1 | cut -f 3)")"
# The history includes deleted alarms ("DescribeAlarmHistory").
later 'Its alarm' "*$STACK-CreatePlantReleaseInternalErrors*" \
  aws cloudwatch describe-alarm-history --history-item-type StateUpdate --start-date "$BEGIN" --output text \
  --query "AlarmHistoryItems[?starts_with(AlarmName, '$STACK-') && ends_with(HistorySummary, 'to ALARM')].AlarmName"
deploy "console.info('Second release of $BEGIN');" :
row 'A release that is good' "deployed, 10 minutes at 10 %, version $((VERSION + 2))" \
  "$RESULT, $MINUTES minutes at 10 %, version $VERSIONS" || exit

# "Lambda quotas", "Amazon API Gateway important notes"
row 'A body of 5 MB' '413 {"message":"Request Too Long"}' \
  "$(node -p "JSON.stringify({ id: 3, name: 'a'.repeat(5e6) })" | respond -d @- /plants)"
row 'A body of 2.5 MB' '200 *' \
  "$(node -p "JSON.stringify({ id: 4, name: '\0'.repeat(409000) })" | respond -d @- /plants)"
send -o /dev/null -d '{"id":9223372036854775807,"name":"Aloe"}' /plants
row 'The stored id' 9223372036854775807 "$(aws dynamodb get-item --table-name "$(output PlantsTableName)" \
  --consistent-read --key '{"id":{"N":"9223372036854775807"}}' --query Item.id.N --output text)"
row 'An unknown path' '400 {"error":404,*' "$(respond -d "$PLANT" /none)"
row 'A path without /v1' '403 {"message":"Forbidden"}' "$(URL=${URL%/v1} respond -d "$PLANT" /plants)"
row 'An unknown method' '400 {"error":404,*' "$(respond -X PATCH -d "$PLANT" /plants)"
row 'A preflight' '200 https://app.example' "$(send -X OPTIONS -H 'Origin: https://app.example' -o /dev/null \
  -H 'Access-Control-Request-Method: POST' -w '%{http_code} %header{access-control-allow-origin}' /plants)"
# "Throttle requests to your REST APIs for better throughput"
row '400 requests at once' 'at least 1' "$(send -Z --parallel-max 100 -d "$PLANT" '/plants?[1-400]' |
  grep -o '"error":429' | wc -l) with error 429"

deploy "console.info('Third release of $BEGIN');" stop
row 'A release that is stopped' "failed, version $((VERSION + 2))" "$RESULT, version $VERSIONS"
deploy "console.info('Fourth release of $BEGIN');" : -c withoutCanary=true
row 'A release without a canary' "deployed, 0 minutes at 10 %, version $((VERSION + 4))" \
  "$RESULT, $MINUTES minutes at 10 %, version $VERSIONS"
row '20 requests at once to the new version' 'at least 20' "$(send -Z --parallel-immediate --parallel-max 20 \
  -o /dev/null -w '%{time_total}\n' -d "$PLANT" '/plants?[1-20]' | percentiles)"
row '500 requests, one after the other' 'at least 500' "$(send --rate 10/s \
  -o /dev/null -w '%{time_total}\n' -d "$PLANT" '/plants?[1-500]' | percentiles)"
npm run --silent token -- revoke --name "$NAME" --stack "$STACK" && sleep 61
row 'A token that was revoked a minute ago' '400 {"error":401,*' "$(respond -d "$PLANT" /plants)"

later 'Cold starts, in ms' 'at least 20' invocations 'ispresent(record.metrics.initDurationMs)' \
  'pct(record.metrics.initDurationMs, 50) as initP50, pct(record.metrics.initDurationMs, 99) as initP99,'
later 'Other invocations, in ms' 'at least 500' invocations 'not ispresent(record.metrics.initDurationMs)' ''
later 'Lines of the query "faults"' 'at least 1' lines faults
later 'Lines of the query "requests by client"' 'at least 1' lines 'requests by client'
for NAME in Faults Throttled Unauthorized; do later "The metric $NAME" 'at least 1' metric "$STACK" "$NAME"; done
# "Monitoring Amazon EventBridge", "Monitoring Amazon SNS topics using CloudWatch"
RULE=$(aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
  --query "StackResourceSummaries[?ResourceType=='AWS::Events::Rule'].PhysicalResourceId")
TOPIC=$(output AlarmTopicArn)
later 'Failed releases' 'at least 2' metric AWS/Events Invocations --dimensions "Name=RuleName,Value=$RULE"
later 'Failed releases that were not published' '0*' \
  metric AWS/Events FailedInvocations --dimensions "Name=RuleName,Value=$RULE"
later 'Published messages' 'at least 2' \
  metric AWS/SNS NumberOfMessagesPublished --dimensions "Name=TopicName,Value=${TOPIC##*:}"
row 'The dashboard' "$STACK-$AWS_REGION" "$(aws cloudwatch get-dashboard --query DashboardName --output text \
  --dashboard-name "$STACK-$AWS_REGION")"
