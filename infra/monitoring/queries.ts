import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

interface QueriesProps {
  functionLog: ILogGroup;
  accessLog: ILogGroup;
}

/** The runbook's questions to the logs, saved in CloudWatch Logs Insights in a folder of the stack's name. */
export class Queries extends Construct {
  constructor(scope: Construct, id: string, { functionLog, accessLog }: QueriesProps) {
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
      [functionLog],
      `fields @timestamp, message.error, message.requestId, message.cause.name, message.cause.message, message.cause.cause.message
      | filter message.error >= 500 or level in ["ERROR", "FATAL"]
      | sort @timestamp desc
      | limit 100`,
    );
    query(
      'OneRequest',
      'one request (put its x-amzn-requestid in)',
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
    // The address stands in the access log, the error in the function's; the request id joins them.
    query(
      'Unauthorized',
      'callers without a token',
      [functionLog, accessLog],
      `fields coalesce(message.requestId, requestId) as id
      | stats latest(sourceIp) as address, max(message.error) as error by id
      | filter error = 401
      | stats count(*) as requests by address
      | sort requests desc`,
    );
    query(
      'GatewayAnswers',
      'answers of the gateway',
      [accessLog],
      `filter gatewayResponse != "-"
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
      `fields @timestamp, message.durationMs, message.outcome, message.error, message.requestId
      | filter ispresent(message.durationMs)
      | sort message.durationMs desc
      | limit 50`,
    );
  }
}
