# shellcheck shell=bash
# Needs bash. Defines the commands of docs/operations.md ("Set up your terminal"), for the AWS CLI 2.
[ -n "${BASH_VERSION:-}" ] || { echo 'docs/operations.sh needs bash: run bash, then paste this again.' >&2; return 1; }

# Needs AWS_PROFILE, AWS_REGION and, for another stack than PlantStore, STAGE. All times are in UTC.
export AWS_PAGER='' AWS_DEFAULT_OUTPUT=json TZ=UTC STACK=PlantStore${STAGE:+-$STAGE} CONTEXT="${STAGE:+-c stage=$STAGE}"

# Prints an attribute of the stack.
stack() { aws cloudformation describe-stacks --stack-name "$STACK" --output text --query "Stacks[0].$1"; }

# Prints an output of the stack.
output() { stack "Outputs[?OutputKey=='$1'].OutputValue"; }

# Prints the alarms that ring.
alarms() {
  aws cloudwatch describe-alarms --alarm-name-prefix "$STACK-MonitoringAlarms" --state-value ALARM --output text \
    --query 'MetricAlarms[].[StateUpdatedTimestamp, AlarmName]'
}

# Prints an attribute of a saved query.
saved() {
  aws logs describe-query-definitions --query-definition-name-prefix "$STACK/$1" --output text \
    --query "queryDefinitions[0].$2"
}

# Prints one line per result of a saved query, or of the text $2 on the logs of that query.
query() {
  local id logs
  read -ra logs <<<"$(saved "$1" 'logGroupNames[]')"
  id=$(aws logs start-query --log-group-names "${logs[@]}" --query queryId --output text \
    --query-string "${2:-$(saved "$1" queryString)}" --start-time $(($(date +%s) - 3600 * ${HOURS:-1})) \
    --end-time "$(date +%s)") || return
  while aws logs get-query-results --query-id "$id" --query status | grep -Eq 'Scheduled|Running'; do sleep 2; done
  aws logs get-query-results --query-id "$id" --output text \
    --query "results[*][?field != '@ptr'].join('=', [field, value])"
}

# Prints for each minute the cold starts (invocations with an init), and the duration of invocations in ms.
latency() {
  query faults 'filter type = "platform.report" | stats count(record.metrics.initDurationMs) as coldStarts,
    pct(record.metrics.durationMs, 99) as p99, max(record.metrics.durationMs) as slowest by bin(1m) as minute
    | sort minute'
}

# Prints the stack's releases of the last week, oldest first, without rollbacks: time, status, id, name.
# BatchGetDeployments takes 25 ids at a time.
releases() {
  local applications
  applications=$(aws cloudformation list-stack-resources --stack-name "$STACK" \
    --query "StackResourceSummaries[?ResourceType=='AWS::CodeDeploy::Application'].PhysicalResourceId") || return
  aws deploy list-deployments --create-time-range "start=$(($(date +%s) - 604800))" --output text \
    --query 'deployments[]' |
    xargs -r -n 25 aws deploy batch-get-deployments --output text --query "deploymentsInfo[?
      contains(\`$applications\`, applicationName) && creator!='codeDeployRollback' &&
      creator!='CloudFormationRollback'].[createTime, status, deploymentId, applicationName]" \
      --deployment-ids |
    LC_ALL=C sort
}

# Prints the last 30 deployments that the pipeline tried, newest first: time, status, commit, author.
commits() {
  # shellcheck disable=SC2016 # The variables are GraphQL's.
  gh api graphql -F owner='{owner}' -F name='{repo}' -f environment="${STAGE:-production}" \
    --jq '.data.repository.deployments.nodes[] | [.createdAt, .state, .commitOid, .commit.author.name] | @tsv' \
    -f query='query($owner: String!, $name: String!, $environment: String!) { repository(owner: $owner, name: $name) {
      deployments(environments: [$environment], first: 30, orderBy: { field: CREATED_AT, direction: DESC }) {
        nodes { createdAt state commitOid commit { author { name } } } } } }'
}

# Prints when and by whom the AWS action $1 was called in the last 90 days, if the event contains $2 ("LookupEvents").
callers() {
  aws cloudtrail lookup-events --lookup-attributes "AttributeKey=EventName,AttributeValue=$1" --output text \
    --query "Events[?contains(CloudTrailEvent, '$2')].[EventTime, Username]"
}

# Prints a release's status and error, and its two versions. GetDeployment has only the digest of the text that names
# them.
release() {
  local application type member digest result
  read -r -d '' application type member digest result <<<"$(aws deploy batch-get-deployments --deployment-ids "$1" \
    --output text --query "deploymentsInfo[0].[applicationName, revision.revisionType, (revision.string && 'string') ||
      'appSpecContent', revision.*.sha256 | [0], status, errorInformation.message]")" || true
  echo "$result"
  aws deploy get-application-revision --application-name "$application" --output text --query 'revision.*.content' \
    --revision "{\"revisionType\":\"$type\",\"$member\":{\"sha256\":\"$digest\"}}" |
    grep -Eo '(Current|Target)Version[^0-9]*[0-9]+' | tr -cs '[:alnum:]\n' ' '
}

# Prints the name of the access token that it asks for, or None.
token_name() {
  local token
  read -rsp 'Token: ' token && echo
  aws dynamodb get-item --table-name "$(output AccessTokensTableName)" --output text --query Item.name.S \
    --key "{\"digest\":{\"S\":\"$(printf %s "$token" | openssl dgst -sha256 -r | cut -c -64)\"}}"
}

# Prints the name of each function.
functions() { stack "Outputs[?ends_with(OutputKey, 'FunctionName')].OutputValue"; }

# Prints for each function the version that clients get, and during a canary the new one with its share.
live() {
  local function
  for function in $(functions); do
    aws lambda get-alias --name live --function-name "$function" --query '[AliasArn, FunctionVersion, RoutingConfig]'
  done
}

# Prints the five functions that use most of the account's concurrency, the account's limit, and the limits of the
# stack's functions.
concurrency() {
  local function
  aws cloudwatch get-metric-data --start-time $(($(date +%s) - 900)) --end-time "$(date +%s)" --output text \
    --query 'MetricDataResults[].[Label, max(Values)]' --metric-data-queries '[{"Id":"most","Period":60,"Expression":
    "SELECT MAX(ConcurrentExecutions) FROM \"AWS/Lambda\" GROUP BY FunctionName ORDER BY MAX() DESC LIMIT 5"}]'
  aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions
  for function in $(functions); do
    aws lambda get-function-concurrency --function-name "$function" --output text \
      --query "['$function', ReservedConcurrentExecutions]"
  done
}

# The newest parameter in docs/ is --endpoint-access-mode of create-domain-name.
CLI=$(aws --version | cut -d ' ' -f 1)
printf '%s\n' aws-cli/2.32.0 "$CLI" | sort -VC || echo "docs/ needs the AWS CLI 2.32.0 or newer; this is $CLI." >&2
aws sts get-caller-identity --query Account --output text
output ApiUrl
CONSOLE="https://$AWS_REGION.console.aws.amazon.com/cloudwatch/home?region=$AWS_REGION"
echo "$CONSOLE#dashboards/dashboard/$STACK-$AWS_REGION" "$CONSOLE#logsV2:logs-insights"
