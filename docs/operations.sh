# Needs bash. Defines the commands of docs/operations.md ("Set up your terminal"), for the AWS CLI 2.
[ -n "${BASH_VERSION:-}" ] || { echo 'docs/operations.sh needs bash: run bash, then paste this again.' >&2; return 1; }

# Needs AWS_PROFILE, AWS_REGION and, for another stack than PlantStore, STAGE.
export AWS_PAGER= AWS_DEFAULT_OUTPUT=json STACK=PlantStore${STAGE:+-$STAGE} CONTEXT="${STAGE:+-c stage=$STAGE}"

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
  local id
  # Without quotation marks, each log group is an argument.
  id=$(aws logs start-query --log-group-names $(saved "$1" 'logGroupNames[]') --query queryId --output text \
    --query-string "${2:-$(saved "$1" queryString)}" --start-time $(($(date +%s) - 3600 * ${HOURS:-1})) \
    --end-time "$(date +%s)") || return
  while aws logs get-query-results --query-id "$id" --query status | grep -Eq 'Scheduled|Running'; do sleep 2; done
  aws logs get-query-results --query-id "$id" --output text \
    --query "results[*][?field != '@ptr'].join('=', [field, value])"
}

# Prints the stack's releases of the last week, without rollbacks: UTC, status, id, name. BatchGetDeployments takes 25 ids.
releases() {
  local applications
  applications=$(aws cloudformation list-stack-resources --stack-name "$STACK" \
    --query "StackResourceSummaries[?ResourceType=='AWS::CodeDeploy::Application'].PhysicalResourceId") || return
  aws deploy list-deployments --create-time-range "start=$(($(date +%s) - 604800))" --output text \
    --query 'deployments[]' |
    TZ=UTC xargs -r -n 25 aws deploy batch-get-deployments --output text --query "sort_by(deploymentsInfo, &createTime)
      [?contains(\`$applications\`, applicationName) && creator!='codeDeployRollback' &&
      creator!='CloudFormationRollback'].[createTime, status, deploymentId, applicationName]" \
      --deployment-ids
}

# Prints the times (UTC) and commits that the pipeline tried to deploy, newest first.
commits() {
  gh api "repos/{owner}/{repo}/deployments?environment=${STAGE:-production}" --jq '.[] | [.created_at, .sha] | @tsv'
}

# Prints why a release failed, and its versions.
release() {
  aws deploy batch-get-deployments --query 'deploymentsInfo[].[status, errorInformation, revision]' \
    --deployment-ids "$1"
}

# Prints for each function the version that clients get, and during a canary the new one with its share.
live() {
  local function
  for function in $(stack "Outputs[?ends_with(OutputKey, 'FunctionName')].OutputValue"); do
    aws lambda get-alias --name live --function-name "$function" --query '[AliasArn, FunctionVersion, RoutingConfig]'
  done
}

# Prints the five functions that use most of the account's concurrency, and the limit.
concurrency() {
  aws cloudwatch get-metric-data --start-time $(($(date +%s) - 900)) --end-time "$(date +%s)" --output text \
    --query 'MetricDataResults[].[Label, max(Values)]' --metric-data-queries '[{"Id":"most","Period":60,"Expression":
    "SELECT MAX(ConcurrentExecutions) FROM \"AWS/Lambda\" GROUP BY FunctionName ORDER BY MAX() DESC LIMIT 5"}]'
  aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions
}

aws sts get-caller-identity --query Account --output text
output ApiUrl
CONSOLE="https://$AWS_REGION.console.aws.amazon.com/cloudwatch/home?region=$AWS_REGION"
echo "$CONSOLE#dashboards/dashboard/$STACK-$AWS_REGION" "$CONSOLE#logsV2:logs-insights"
