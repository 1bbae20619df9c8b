import { Stack } from 'aws-cdk-lib';
import { CfnMethod, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { OperationFunction } from '../operation-function.ts';
import { gatewayFaults } from './outcomes.ts';

interface QueriesProps {
  functions: OperationFunction[];
  accessLog: ILogGroup;
  restApi: RestApi;
}

/** The gateway's own id of a request, which no caller can choose, in either log ("Access logging for REST APIs"). */
const ID = 'coalesce(message.extendedRequestId, extendedRequestId)';

/** The runbook's questions to the logs of all functions and of the gateway, saved in CloudWatch Logs Insights in a folder of the stack's name. */
export class Queries extends Construct {
  constructor(scope: Construct, id: string, { functions, accessLog, restApi }: QueriesProps) {
    super(scope, id);
    const functionLogs = functions.map(({ logGroup }) => logGroup);
    const query = (queryId: string, name: string, logGroups: ILogGroup[], queryString: string) =>
      new CfnQueryDefinition(this, queryId, {
        name: `${Stack.of(this).stackName}/${name}`,
        logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
        queryString: queryString.replaceAll(/\n +/g, '\n').trim(),
      });

    query(
      'Faults',
      'faults',
      [...functionLogs, accessLog],
      `fields @timestamp, message.operation, message.error, gatewayResponse, ${ID} as id, message.cause.name, message.cause.message, message.cause.cause.message, integrationError
      | filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(gatewayFaults)}
      | sort @timestamp desc
      | limit 100`,
    );
    query(
      'OneRequest',
      'one request (put its x-amz-apigw-id in)',
      [...functionLogs, accessLog],
      `fields @timestamp, @log, @message
      | filter @message like "REQUEST_ID"
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
      [...functionLogs, accessLog],
      `fields ${ID} as id
      | stats sortsLast(sourceIp) as address, max(message.error) as error by id
      | filter error = 401
      | stats count(*) as requests by address
      | sort requests desc`,
    );
    query(
      'GatewayAnswers',
      'answers of the gateway',
      [accessLog],
      `filter gatewayResponse != "-" or not (${reachesFunction(restApi)})
      | stats count(*) as requests by gatewayResponse, method, path, sourceIp
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
}

/**
 * Matches the access log's lines of routes with a function behind them. What the gateway answers on others, such as a
 * missing path, has no gateway response, and no page says what a mock integration's status and latency are logged as.
 */
function reachesFunction(restApi: RestApi): string {
  return restApi.methods
    .filter(({ node: { defaultChild: method } }) => {
      if (!(method instanceof CfnMethod) || !method.integration) return false;
      return 'type' in method.integration && method.integration.type === 'AWS_PROXY';
    })
    .map(({ httpMethod, resource }) => `(method = "${httpMethod}" and resource = "${resource.path}")`)
    .join(' or ');
}
