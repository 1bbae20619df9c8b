import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { gatewayFaults, type MonitoredResources } from './metrics.ts';

/** The extended request id, in function logs and the access log. Clients cannot choose it ("Access logging for REST APIs"). */
const REQUEST_ID_FIELD = 'coalesce(message.extendedRequestId, extendedRequestId)';

/** Saves the queries of docs/operations.md in CloudWatch Logs Insights, in a folder with the stack's name. */
export function addSavedQueries(scope: Construct, { functions, releases, api }: MonitoredResources): void {
  const functionLogs = functions.map(({ logGroup }) => logGroup);
  const allLogs = [...functionLogs, api.accessLog];
  // The responses to unknown paths and methods are mock integrations, which have no gateway response type. AWS does not
  // document their status and latency in the access log, so the query matches method and path.
  const isOperation = functions
    .map(({ operation: { method, path } }) => `(method = "${method}" and resource = "${path}")`)
    .join(' or ');
  const queries: Record<string, [logGroups: ILogGroup[], queryString: string]> = {
    faults: [
      allLogs,
      `fields @timestamp, message.operation, message.error, gatewayResponse, ${REQUEST_ID_FIELD} as id, message.cause.name, message.cause.message, message.cause.cause.message, message.errorType, message.errorMessage
      | filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(gatewayFaults)}
      | sort @timestamp desc
      | limit 100`,
    ],
    'one request (replace REQUEST_ID with its x-amz-apigw-id)': [
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
    // The access log has the address, the function's log has the error. The query joins them by request id.
    'clients without a valid token': [
      allLogs,
      `fields ${REQUEST_ID_FIELD} as id
      | stats sortsLast(sourceIp) as address, max(message.error) as error by id
      | filter error = 401
      | stats count(*) as requests by address
      | sort requests desc`,
    ],
    'gateway responses': [
      [api.accessLog],
      `filter gatewayResponse != "-" or not (${isOperation})
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
