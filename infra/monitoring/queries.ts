import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Watched } from './monitoring.ts';
import { gatewayFaults } from './request-metrics.ts';

/** The gateway's own id of a request, which no caller can choose, in either log ("Access logging for REST APIs"). */
const ID = 'coalesce(message.extendedRequestId, extendedRequestId)';

/** The runbook's questions to the logs of all functions and of the gateway, saved in CloudWatch Logs Insights in a folder of the stack's name. */
export function addQueries(scope: Construct, { functions, releases, api }: Watched): void {
  const functionLogs = functions.map(({ logGroup }) => logGroup);
  const allLogs = [...functionLogs, api.accessLog];
  // What the gateway answers where no operation is, such as on a missing path, has no gateway response, and no page
  // says what a mock integration's status and latency are logged as.
  const reachesFunction = functions
    .map(({ operation: { method, path } }) => `(method = "${method}" and resource = "${path}")`)
    .join(' or ');
  const query = (id: string, name: string, logGroups: ILogGroup[], queryString: string) =>
    new CfnQueryDefinition(scope, id, {
      name: `${Stack.of(scope).stackName}/${name}`,
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
      queryString: queryString.replaceAll(/\n +/g, '\n'),
    });

  query(
    'Faults',
    'faults',
    allLogs,
    `fields @timestamp, message.operation, message.error, gatewayResponse, ${ID} as id, message.cause.name, message.cause.message, message.cause.cause.message, message.errorType, message.errorMessage
      | filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(gatewayFaults)}
      | sort @timestamp desc
      | limit 100`,
  );
  query(
    'OneRequest',
    'one request (put its x-amz-apigw-id in)',
    allLogs,
    `fields @timestamp, @log, @message
      | filter @message like "REQUEST_ID"
      | sort @timestamp asc`,
  );
  query(
    'PreTrafficChecks',
    'pre-traffic checks',
    releases.map(({ preTrafficLog }) => preTrafficLog),
    `fields @timestamp, @message
      | filter ispresent(level)
      | sort @timestamp asc`,
  );
  query(
    'ErrorsByToken',
    'errors by token',
    functionLogs,
    `filter ispresent(message.error)
      | stats count(*) as requests by message.tokenName, message.operation, message.error
      | sort requests desc`,
  );
  // The address stands in the access log, the error in the function's; the id joins them.
  query(
    'Unauthorized',
    'callers without a token',
    allLogs,
    `fields ${ID} as id
      | stats sortsLast(sourceIp) as address, max(message.error) as error by id
      | filter error = 401
      | stats count(*) as requests by address
      | sort requests desc`,
  );
  query(
    'GatewayAnswers',
    'answers of the gateway',
    [api.accessLog],
    `filter gatewayResponse != "-" or not (${reachesFunction})
      | stats count(*) as requests by gatewayResponse, method, resource, sourceIp
      | sort requests desc
      | limit 100`,
  );
  query(
    'ColdStarts',
    'cold starts',
    functionLogs,
    `filter type = "platform.report"
      | stats count(*) as invocations, count(record.metrics.initDurationMs) as coldStarts, pct(record.metrics.initDurationMs, 99) as initMsP99, pct(record.metrics.durationMs, 99) as durationMsP99, max(record.metrics.maxMemoryUsedMB) as megabytes by @log, bin(1h)`,
  );
  query(
    'SlowestRequests',
    'slowest requests',
    functionLogs,
    `fields @timestamp, message.operation, message.durationMs, message.outcome, message.error, message.extendedRequestId
      | filter ispresent(message.durationMs)
      | sort message.durationMs desc
      | limit 50`,
  );
}
