import { startFakeService } from './fake-service.ts';

/** "If the stack doesn't exist, a ValidationError is returned" ("DescribeStacks", CloudFormation API Reference). */
const MISSING =
  '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>';

/**
 * Starts a fake CloudFormation until the test ends ("DescribeStacks", CloudFormation API Reference). Its only stack,
 * `plants`, has these outputs. Returns its URL.
 */
export function startCloudFormation(outputs: Record<string, string>): Promise<string> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const list = members.length > 0 ? `<Outputs>${members.join('')}</Outputs>` : '';
  const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${list}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  return startFakeService(({ body }) =>
    new URLSearchParams(body).get('StackName') === 'plants'
      ? { status: 200, headers: {}, body: found }
      : { status: 400, headers: {}, body: MISSING },
  );
}
