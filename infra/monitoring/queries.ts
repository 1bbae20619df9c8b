import { Stack } from 'aws-cdk-lib';
import { CfnMethod, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { gatewayFaults } from './outcomes.ts';

interface QueriesProps {
  functionLog: ILogGroup;
  accessLog: ILogGroup;
  restApi: RestApi;
}

/** The gateway's own id of a request, which no caller can choose, in either log ("Access logging for REST APIs"). */
const ID = 'coalesce(message.extendedRequestId, extendedRequestId)';

/** The runbook's questions to the logs, saved in CloudWatch Logs Insights in a folder of the stack's name. */
export class Queries extends Construct {
  constructor(scope: Construct, id: string, { functionLog, accessLog, restApi }: QueriesProps) {
    super(scope, id);
    const query = (queryId: string, name: string, logGroups: ILogGroup[], queryString: string) =>
      new CfnQueryDefinition(this, queryId, {
        name: `${Stack.of(this).stackName}/${name}`,
        logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
        queryString: queryString.replaceAll(/\n +/g, '\n').trim(),
      });

    query(
      'Faults',
      'faults',
      [functionLog, accessLog],
      `fields @timestamp, message.error, gatewayResponse, ${ID} as id, message.cause.name, message.cause.message, message.cause.cause.message, integrationError
      | filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(gatewayFaults)}
      | sort @timestamp desc
      | limit 100`,
    );
    query(
      'OneRequest',
      'one request (put its x-amz-apigw-id in)',
      [functionLog, accessLog],
      `fields @timestamp, @log, @message
      | filter @message like "REQUEST_ID"
      | sort @timestamp asc`,
    );
    query(
      'ErrorsByToken',
      'errors by token',
      [functionLog],
      `filter ispresent(message.error)
      | stats count(*) as requests by message.tokenName, message.error
      | sort requests desc`,
    );
    // The address stands in the access log, the error in the function's; the id joins them.
    query(
      'Unauthorized',
      'callers without a token',
      [functionLog, accessLog],
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
      [functionLog],
      `filter type = "platform.report"
      | stats count(*) as invocations, count(record.metrics.initDurationMs) as coldStarts, pct(record.metrics.initDurationMs, 99) as initMsP99, pct(record.metrics.durationMs, 99) as durationMsP99, max(record.metrics.maxMemoryUsedMB) as megabytes by bin(1h)`,
    );
    query(
      'SlowestRequests',
      'slowest requests',
      [functionLog],
      `fields @timestamp, message.durationMs, message.outcome, message.error, message.extendedRequestId
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
