import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { gatewayFaults, type Monitored } from './metrics.ts';

/** The gateway's id of a request, which no client can choose, in both kinds of log ("Access logging for REST APIs"). */
const ID = 'coalesce(message.extendedRequestId, extendedRequestId)';

/** Saves the queries of the runbook, in CloudWatch Logs Insights in a folder with the stack's name. */
export function addSavedQueries(scope: Construct, { functions, releases, api }: Monitored): void {
  const functionLogs = functions.map(({ logGroup }) => logGroup);
  const allLogs = [...functionLogs, api.accessLog];
  // The mock responses of unknown paths and methods have no gateway response type, and no page of AWS says which
  // status and latency the access log has for them.
  const reachesFunction = functions
    .map(({ operation: { method, path } }) => `(method = "${method}" and resource = "${path}")`)
    .join(' or ');
  const queries: Record<string, [logGroups: ILogGroup[], queryString: string]> = {
    faults: [
      allLogs,
      `fields @timestamp, message.operation, message.error, gatewayResponse, ${ID} as id, message.cause.name, message.cause.message, message.cause.cause.message, message.errorType, message.errorMessage
      | filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(gatewayFaults)}
      | sort @timestamp desc
      | limit 100`,
    ],
    'one request (put its x-amz-apigw-id in)': [
      allLogs,
      `fields @timestamp, @log, @message
      | filter @message like "REQUEST_ID"
      | sort @timestamp asc`,
    ],
    'pre-traffic checks': [
      releases.map(({ preTrafficLog }) => preTrafficLog),
      `fields @timestamp, @message
      | filter ispresent(level)
      | sort @timestamp asc`,
    ],
    'errors by token': [
      functionLogs,
      `filter ispresent(message.error)
      | stats count(*) as requests by message.tokenName, message.operation, message.error
      | sort requests desc`,
    ],
    // The access log has the address, the function's log the error; the id joins them.
    'callers without a token': [
      allLogs,
      `fields ${ID} as id
      | stats sortsLast(sourceIp) as address, max(message.error) as error by id
      | filter error = 401
      | stats count(*) as requests by address
      | sort requests desc`,
    ],
    'answers of the gateway': [
      [api.accessLog],
      `filter gatewayResponse != "-" or not (${reachesFunction})
      | stats count(*) as requests by gatewayResponse, method, resource, sourceIp
      | sort requests desc
      | limit 100`,
    ],
    'cold starts': [
      functionLogs,
      `filter type = "platform.report"
      | stats count(*) as invocations, count(record.metrics.initDurationMs) as coldStarts, pct(record.metrics.initDurationMs, 99) as initMsP99, pct(record.metrics.durationMs, 99) as durationMsP99, max(record.metrics.maxMemoryUsedMB) as megabytes by @log, bin(1h)`,
    ],
    'slowest requests': [
      functionLogs,
      `fields @timestamp, message.operation, message.durationMs, message.outcome, message.error, message.extendedRequestId
      | filter ispresent(message.durationMs)
      | sort message.durationMs desc
      | limit 50`,
    ],
  };
  for (const [name, [logGroups, queryString]] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `Query ${name}`, {
      name: `${Stack.of(scope).stackName}/${name}`,
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
      queryString: queryString.replaceAll(/\n +/g, '\n'),
    });
  }
}
