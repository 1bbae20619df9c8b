import { expect, test } from 'vitest';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import { allOperations, functionOf, propertiesOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith({});

const queries = Object.values(propertiesOf(template, 'AWS::Logs::QueryDefinition')).map(
  ({ Name, QueryString, LogGroupNames }) => ({
    name: Name.replace('PlantStore/', '') as string,
    query: QueryString as string,
    logGroups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref) as string[],
  }),
);

/** Returns the paths of all members of a value, such as `message.cause.name`. */
function memberPaths(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([name, member]) =>
    memberPaths(member, prefix === '' ? name : `${prefix}.${name}`),
  );
}

const functionFields = [
  ...memberPaths(await requestLine(503)),
  // Uncaught errors, which the Node.js runtime of Lambda logs.
  ...['message.errorType', 'message.errorMessage'],
  // The report of an invocation ("Lambda Telemetry API Event schema reference").
  ...['record.status', 'record.errorType'],
];

/** The fields of each log. */
const fieldsOf: Record<string, string[]> = Object.fromEntries([
  ...allOperations.map((operation) => [functionOf(template, operation).logGroup, functionFields]),
  ...Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup'))
    .filter((id) => id.startsWith('ApiAccessLog'))
    .map((id) => [id, accessLogMembers(template)]),
]);

test.each(queries)('the query "$name" uses only fields that its logs have', ({ query, logGroups }) => {
  const known = logGroups.flatMap((logGroup) => fieldsOf[logGroup] ?? []);
  const fields =
    query.match(/\b((?:message|record)\.[\w.]+|gatewayResponse|sourceIp|resource|extendedRequestId|level)\b/g) ?? [];
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => !known.includes(field))).toEqual([]);
});

test('the query "faults" finds crashes, and invocations that timed out or ran out of memory, and shows the newest', () => {
  const faults = queries.find(({ name }) => name === 'faults')?.query;
  expect(faults).toContain(' or level in ["ERROR", "FATAL"] or record.status in ["timeout", "error", "failure"] or ');
  expect(faults).toContain('\n| sort @timestamp desc\n');
  expect(faults).toMatch(/^fields .*record\.status.* as fault, .*record\.errorType.* as cause$/m);
});
