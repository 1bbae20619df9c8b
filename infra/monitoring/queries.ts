import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { RequestLine } from '../../functions/middleware/request-log.ts';
import type { AccessLogName } from '../access-log.ts';
import { GATEWAY_FAULTS, type MonitoredResources } from './metrics.ts';

export const field = (name: keyof RequestLine) => `message.${name}`;

const accessField = (name: AccessLogName) => name;

/**
 * The extended request id, in the function's log and the access log. Clients cannot choose it ("Variables for access
 * logging for API Gateway").
 */
const REQUEST_ID_FIELD = `coalesce(${field('extendedRequestId')}, ${accessField('extendedRequestId')})`;

/**
 * Selects the reports of invocations that timed out or whose process ended, for example out of memory. Lambda writes
 * them, not the function, so there is no line with the level ERROR ("Lambda Telemetry API Event schema reference").
 */
const UNFINISHED = 'record.status in ["timeout", "error", "failure"]';

/** The message of a fault, the type of a crash, or the status of an invocation without a response. */
const FAULT = `coalesce(${field('fault')}.message, message.errorType, record.status)`;
/** The second or first cause of the fault, the message of a crash, or Lambda's error type. */
const CAUSE = `coalesce(${field('fault')}.cause.cause.message, ${field('fault')}.cause.message, message.errorMessage, record.errorType)`;

/** Saves the queries that docs/ names in CloudWatch Logs Insights, in a folder with the stack's name. */
export function addSavedQueries(scope: Construct, { lambda, api }: MonitoredResources): void {
  const logGroupNames = [lambda.logGroup, api.accessLog].flatMap((log) => log?.logGroupName ?? []);
  const save = (name: string, ...commands: string[]) =>
    new CfnQueryDefinition(scope, `Query ${name}`, {
      name: `${Stack.of(scope).stackName}/${name}`,
      logGroupNames,
      queryString: commands.join('\n| '),
    });
  save(
    'faults',
    `fields @timestamp, ${field('error')} as error, ${accessField('gatewayResponse')} as fromGateway, ${REQUEST_ID_FIELD} as id, ${FAULT} as fault, ${CAUSE} as cause`,
    `filter ${field('error')} >= 500 or level in ["ERROR", "FATAL"] or ${UNFINISHED} or ${accessField('gatewayResponse')} in ${JSON.stringify(GATEWAY_FAULTS)}`,
    'sort @timestamp desc',
    'limit 100',
  );
  // The access log has the address, the function's log has the token and the error. The query joins them by request id.
  // A client that is hurt can have the fewest requests, so the limit is the largest one.
  save(
    'requests by client',
    `fields ${REQUEST_ID_FIELD} as id`,
    'filter ispresent(id)',
    `stats sortsLast(${accessField('sourceIp')}) as address, sortsLast(${field('tokenName')}) as token, max(${field('error')}) as error, sortsLast(${accessField('gatewayResponse')}) as fromGateway, sortsLast(${accessField('resource')}) as path by id`,
    'stats count(*) as requests by address, token, error, fromGateway, path',
    'sort requests desc',
    'limit 10000',
  );
  // Joins before it selects the token's requests, because the access log does not name the token. A thief can send the
  // fewest requests too, so the newest address is first.
  save(
    'requests of a token',
    `filter ${field('tokenName')} = "NAME" or ispresent(${accessField('sourceIp')})`,
    `fields ${REQUEST_ID_FIELD} as id`,
    `stats sortsLast(${accessField('sourceIp')}) as address, count(${field('tokenName')}) as uses, min(@timestamp) as sent by id`,
    'filter uses > 0',
    'stats min(sent) as first, max(sent) as last, count(*) as requests by address',
    'sort first desc',
    'limit 10000',
  );
}
