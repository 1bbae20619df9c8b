import { setTimeout } from 'node:timers/promises';
import { gatewayResponses } from '../../model/gateway-responses.ts';
import { type FakeResponse, forward, type ReceivedRequest } from '../support/fake-service.ts';

/*
 * Plays what the trial calls: the clock, `cdk deploy`, the API of the service, and the APIs of AWS. The responses of
 * AWS have the members of the page with the operation's name in the API reference of its service.
 */

const [REGION, STACK] = ['us-east-1', 'PlantStore-trial'];
export const ACCOUNT = '123456789012';
const STACK_ID = `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${STACK}/12345678-1234-1234-1234-123456789012`;
const FUNCTION = `${STACK}-CreatePlantFunction-1A2B`;
const ROLE = `${STACK}-ApiRestApiCloudWatchRole-1A2B`;
const APPLICATION = `${STACK}-CreatePlantRelease-1A2B`;
const RULE = `${STACK}-FailedRelease-1A2B`;
const TOPIC = `${STACK}-Topic-1A2B`;
const TABLES = [`${STACK}-PlantsTable-1A2B`, `${STACK}-AccessTokensTable-1A2B`];
const LOGS = [`${STACK}-CreatePlantLogs-1A2B`, `${STACK}-ApiAccessLog-1A2B`];
const KEY = '1234abcd-12ab-34cd-56ef-1234567890ab';

const resourcesOf = (type: string, ids: string[]) => ids.map((id) => ({ type, id }));
/** The resources with a DeletionPolicy. */
const RETAINED = [
  ...resourcesOf('AWS::DynamoDB::Table', TABLES),
  ...resourcesOf('AWS::Logs::LogGroup', LOGS),
  ...resourcesOf('AWS::KMS::Key', [KEY]),
  ...resourcesOf('AWS::IAM::Role', [ROLE]),
  ...resourcesOf('AWS::ApiGateway::Account', ['AccountId']),
];
const OTHERS = [
  ...resourcesOf('AWS::Lambda::Function', [FUNCTION]),
  ...resourcesOf('AWS::CodeDeploy::Application', [APPLICATION]),
  ...resourcesOf('AWS::Events::Rule', [RULE]),
];

/** The addresses that the fake uses, and how AWS behaves in one test. */
export interface World {
  url: string;
  serviceUrl: string;
  databaseUrl: string;
  /** True if the stack exists from the beginning. */
  exists?: boolean;
  /** True if no alarm goes to ALARM. */
  isSilent?: boolean;
  /** The number of the deployment that fails. The first is 1. */
  failingDeployment?: number;
}

interface Canary {
  deploymentId: string;
  createTime: number;
  status: 'InProgress' | 'Succeeded' | 'Stopped';
  message?: string;
  before: number;
  version: number;
  isBroken: boolean;
  /** The time of the first look at the alias. */
  startedAt?: number;
  end: (isDeployed: boolean) => void;
}

/** The members of requests that the responses depend on. */
interface Input {
  StackName?: string;
  TableName?: string;
  MetricName?: string;
  DashboardName?: string;
  KeyId?: string;
  RoleName?: string;
  logGroupName?: string;
  deploymentId?: string;
  deploymentIds?: string[];
  revision?: { appSpecContent: { sha256: string } };
  queryString?: string;
  queryId?: string;
  patchOperations?: { op: string; path: string; value: string }[];
}

/** A request that AWS rejects: the error's code and message. */
class AwsError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const response = (status: number, type: string, body: string): FakeResponse => {
  return { status, headers: { 'content-type': type }, body };
};
const json = (status: number, body: unknown) => response(status, 'application/json', JSON.stringify(body));

/** Writes a result as the XML of the query protocol. */
function xml(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => `<member>${xml(item)}</member>`).join('');
  if (typeof value !== 'object' || value === null) return String(value).replaceAll('<', '&lt;');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return members.map(([name, member]) => `<${name}>${xml(member)}</${name}>`).join('');
}

export function createFakeAws(world: World) {
  let now = Math.floor(Date.now() / 1000);
  let stackStatus: 'none' | 'CREATE_IN_PROGRESS' | 'CREATE_COMPLETE' | 'DELETE_COMPLETE' = 'none';
  let endCreation = (_isDeployed: boolean) => {};
  let live = { version: 1, isBroken: false };
  let lastVersion = 1;
  let logsRole: string | undefined;
  let revokedAt: number | undefined;
  const canaries: Canary[] = [];
  const alarms: string[] = [];
  const queries: string[] = [];
  const counts = { Faults: 0, Throttled: 0, Unauthorized: 0, requests: 0, failing: 0, inFlight: 0 };
  const state = {
    /** The stages and the function of each deployment. */
    deployed: [] as string[],
    /** The ids of the resources in the account. */
    existing: new Set<string>(),
  };
  const canary = () => canaries.find(({ status }) => status === 'InProgress');
  const stopped = () => canaries.filter(({ status }) => status === 'Stopped').length;

  function create(status: typeof stackStatus): void {
    stackStatus = status;
    logsRole = `arn:aws:iam::${ACCOUNT}:role/${ROLE}`;
    for (const { id } of [...RETAINED, ...OTHERS]) state.existing.add(id);
  }
  if (world.exists) create('CREATE_COMPLETE');

  function endCanary(ended: Canary, status: Canary['status'], message?: string): void {
    Object.assign(ended, { status, message });
    if (status === 'Succeeded') live = ended;
    ended.end(status === 'Succeeded');
  }

  /** Lets sixty times as many seconds pass. */
  function sleep(seconds: number): void {
    now += seconds * 60;
    if (stackStatus === 'CREATE_IN_PROGRESS') {
      stackStatus = 'CREATE_COMPLETE';
      endCreation(true);
    }
    const current = canary();
    if (current?.startedAt && now > current.startedAt + 600) endCanary(current, 'Succeeded');
  }

  /** Returns true if the deployment succeeds. */
  async function deploy(args: string, files: string): Promise<boolean> {
    state.deployed.push(files);
    if (state.deployed.length === world.failingDeployment) return false;
    if (stackStatus === 'none') {
      create('CREATE_IN_PROGRESS');
      return new Promise((resolve) => {
        endCreation = resolve;
      });
    }
    lastVersion += 1;
    const release = { version: lastVersion, isBroken: files.includes("'Fail'") };
    if (args.includes('withoutCanary=true')) {
      live = release;
      return true;
    }
    return new Promise((end) => {
      const deploymentId = `d-${release.version}`;
      canaries.push({ ...release, deploymentId, createTime: now, status: 'InProgress', before: live.version, end });
    });
  }

  async function respondAsApi(sent: ReceivedRequest): Promise<FakeResponse> {
    const { path, bytes, body } = sent;
    // "Amazon API Gateway important notes", and docs/decisions.md.
    if (!path.startsWith('/v1/')) return json(403, { message: 'Forbidden' });
    if (bytes.length > 4_500_000) return json(413, { message: 'Request Too Long' });
    if (counts.inFlight > 40) {
      counts.Throttled += 1;
      return json(400, gatewayResponses.THROTTLED);
    }
    counts.requests += 1;
    if (revokedAt !== undefined && now > revokedAt + 60) {
      counts.Unauthorized += 1;
      return json(400, gatewayResponses.UNAUTHORIZED);
    }
    const current = canary();
    if (body.includes('Fail')) counts.failing += 1;
    if (body.includes('Fail') && (live.isBroken || (current?.isBroken && counts.failing % 10 === 0))) {
      counts.Faults += 1;
      if (current?.isBroken && !world.isSilent) {
        alarms.push(`${STACK}-CreatePlantReleaseInternalErrors-1A2B`);
        endCanary(current, 'Stopped', 'One or more alarms have been activated, and the deployment has been stopped.');
      }
      return json(400, gatewayResponses.DEFAULT_5XX);
    }
    // The trial sends these many times. They do not reach the service, so that a slow machine is fast enough.
    if (path.startsWith('/v1/plants?')) {
      counts.inFlight += 1;
      await setTimeout(50);
      counts.inFlight -= 1;
      return json(200, { name: 'Aloe' });
    }
    const received = await forward(world.serviceUrl, { ...sent, path: path.slice('/v1'.length) });
    if (received.body.startsWith('{"error":401,')) counts.Unauthorized += 1;
    return received;
  }

  function describeStack({ StackName }: Input) {
    if (stackStatus === 'none' || (stackStatus === 'DELETE_COMPLETE' && StackName !== STACK_ID)) {
      throw new AwsError('ValidationError', `Stack with id ${StackName} does not exist`);
    }
    const outputs = {
      ApiUrl: `${world.url}/v1`,
      PlantsTableName: TABLES[0],
      AccessTokensTableName: TABLES[1],
      CreatePlantFunctionName: FUNCTION,
      AlarmTopicArn: `arn:aws:sns:${REGION}:${ACCOUNT}:${TOPIC}`,
    };
    return {
      StackId: STACK_ID,
      StackName: STACK,
      StackStatus: stackStatus,
      CreationTime: '2026-11-24T12:00:00Z',
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    };
  }

  function listResources() {
    return [...RETAINED, ...OTHERS].map(({ type, id }) => ({
      LogicalResourceId: id.replaceAll(/\W/g, ''),
      PhysicalResourceId: id,
      ResourceType: type,
      LastUpdatedTimestamp: '2026-11-24T12:00:00Z',
      // "StackResourceSummary"
      ResourceStatus:
        stackStatus !== 'DELETE_COMPLETE'
          ? 'CREATE_COMPLETE'
          : state.existing.has(id)
            ? 'DELETE_SKIPPED'
            : 'DELETE_COMPLETE',
    }));
  }

  /** Deletes a resource. Throws the error of its service if there is none. */
  function remove(id: string | undefined, code: string): void {
    if (id === undefined || !state.existing.delete(id)) throw new AwsError(code, `${id} does not exist`);
  }

  function table({ TableName = '' }: Input) {
    if (!state.existing.has(TableName)) throw new AwsError('ResourceNotFoundException', `${TableName} not found`);
    return { TableName, TableStatus: 'ACTIVE' };
  }

  const existing = (ids: string[]) => ids.filter((id) => state.existing.has(id));
  const metric = ({ MetricName = '' }: Input) => {
    const published = stopped();
    const all: Record<string, number> = { ...counts, Invocations: published, NumberOfMessagesPublished: published };
    return all[MetricName];
  };

  /** A result of each operation of the query protocol. */
  const queryOperations: Record<string, (input: Input) => object | undefined> = {
    GetCallerIdentity: () => ({ Account: ACCOUNT, Arn: `arn:aws:iam::${ACCOUNT}:user/trial`, UserId: 'AIDA' }),
    DescribeStacks: (input) => ({ Stacks: [describeStack(input)] }),
    ListStackResources: () => ({ StackResourceSummaries: listResources() }),
    DeleteStack: () => {
      stackStatus = 'DELETE_COMPLETE';
      for (const { id } of OTHERS) state.existing.delete(id);
      return undefined;
    },
    DescribeAlarmHistory: () => ({
      AlarmHistoryItems: alarms.map((AlarmName) => ({
        AlarmName,
        HistoryItemType: 'StateUpdate',
        HistorySummary: 'Alarm updated from OK to ALARM',
        Timestamp: '2026-11-24T12:00:00Z',
      })),
    }),
    GetMetricStatistics: (input) => ({
      Label: input.MetricName,
      Datapoints: metric(input) ? [{ Timestamp: '2026-11-24T12:00:00Z', Sum: metric(input), Unit: 'Count' }] : [],
    }),
    GetDashboard: ({ DashboardName }) => ({ DashboardName, DashboardArn: `arn:${DashboardName}`, DashboardBody: '{}' }),
    ListRoles: () => ({ Roles: existing([ROLE]).map((RoleName) => ({ RoleName, Path: '/' })), IsTruncated: false }),
    DetachRolePolicy: () => undefined,
    DeleteRole: ({ RoleName }) => {
      remove(RoleName, 'NoSuchEntity');
      return undefined;
    },
  };

  const report = (results: Record<string, string | number>) =>
    Object.entries(results).map(([field, value]) => ({ field, value: String(value) }));

  const jsonOperations: Record<string, (input: Input) => object> = {
    ListTables: () => ({ TableNames: existing(TABLES) }),
    DescribeTable: (input) => ({ Table: table(input) }),
    UpdateTable: (input) => ({ TableDescription: table(input) }),
    DeleteTable: (input) => {
      const TableDescription = { ...table(input), TableStatus: 'DELETING' };
      remove(input.TableName, 'ResourceNotFoundException');
      return { TableDescription };
    },
    ListDeployments: () => ({ deployments: canaries.map(({ deploymentId }) => deploymentId) }),
    BatchGetDeployments: ({ deploymentIds = [] }) => ({
      deploymentsInfo: canaries
        .filter(({ deploymentId }) => deploymentIds.includes(deploymentId))
        .map(({ deploymentId, createTime, status, message }) => ({
          applicationName: APPLICATION,
          creator: 'CloudFormation',
          deploymentId,
          createTime,
          status,
          // "RevisionLocation", "ErrorInformation"
          revision: { revisionType: 'AppSpecContent', appSpecContent: { sha256: deploymentId } },
          ...(message && { errorInformation: { code: 'ALARM_ACTIVE', message } }),
        })),
    }),
    GetApplicationRevision: ({ revision }) => {
      const deployment = canaries.find(({ deploymentId }) => deploymentId === revision?.appSpecContent.sha256);
      // "AppSpec 'resources' section for AWS Lambda deployments"
      const properties = {
        Name: FUNCTION,
        Alias: 'live',
        CurrentVersion: deployment?.before,
        TargetVersion: deployment?.version,
      };
      const content = {
        version: 0,
        Resources: [{ CreatePlant: { Type: 'AWS::Lambda::Function', Properties: properties } }],
      };
      return {
        applicationName: APPLICATION,
        revision: { revisionType: 'AppSpecContent', appSpecContent: { content: JSON.stringify(content) } },
      };
    },
    StopDeployment: ({ deploymentId }) => {
      const current = canary();
      if (current?.deploymentId !== deploymentId) throw new AwsError('DeploymentAlreadyCompletedException', '');
      if (current) endCanary(current, 'Stopped');
      return { status: 'Pending' };
    },
    DescribeQueryDefinitions: () => ({
      queryDefinitions: [
        { queryDefinitionId: '1', name: `${STACK}/faults`, queryString: 'fields @message', logGroupNames: LOGS },
      ],
    }),
    StartQuery: ({ queryString = '' }) => ({ queryId: String(queries.push(queryString) - 1) }),
    GetQueryResults: ({ queryId }) => {
      const times = { p50: '5.1', p99: '9.8' };
      const text = queries[Number(queryId)] ?? '';
      const warm = report({ invocations: counts.requests, ...times });
      const cold = report({ invocations: 24, initP50: '180.2', initP99: '240.5', ...times });
      const line = report({ '@timestamp': '2026-11-24 12:00:00.000', '@ptr': 'CmEK' });
      const isReport = text.includes('platform.report');
      return { status: 'Complete', results: [isReport ? (text.includes('not ispresent') ? warm : cold) : line] };
    },
    DescribeLogGroups: () => ({ logGroups: existing(LOGS).map((logGroupName) => ({ logGroupName })) }),
    DeleteLogGroup: ({ logGroupName }) => {
      remove(logGroupName, 'ResourceNotFoundException');
      return {};
    },
    ScheduleKeyDeletion: ({ KeyId }) => {
      remove(KeyId, 'NotFoundException');
      return { KeyId, DeletionDate: now, KeyState: 'PendingDeletion', PendingWindowInDays: 7 };
    },
  };

  const restOperations: Record<string, (input: Input) => object> = {
    'GET /account': () => ({ ...(logsRole && { cloudwatchRoleArn: logsRole }), apiKeyVersion: '4' }),
    'PATCH /account': ({ patchOperations }) => {
      logsRole = patchOperations?.[0]?.value;
      return {};
    },
    'GET /2015-03-31/functions': () => ({ Functions: existing([FUNCTION]).map((FunctionName) => ({ FunctionName })) }),
    [`GET /2015-03-31/functions/${FUNCTION}/aliases/live`]: () => {
      const current = canary();
      if (current) current.startedAt ??= now;
      return {
        AliasArn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${FUNCTION}:live`,
        Name: 'live',
        FunctionVersion: String(live.version),
        ...(current && { RoutingConfig: { AdditionalVersionWeights: { [current.version]: 0.1 } } }),
      };
    },
  };

  async function respondAsAws(request: ReceivedRequest): Promise<FakeResponse> {
    const { method, path, headers, body } = request;
    const [service = '', target] = String(headers['x-amz-target'] ?? '').split('.');
    try {
      if (target !== undefined && service.startsWith('DynamoDB') && !(target in jsonOperations)) {
        return await respondAsDatabase(request);
      }
      if (target !== undefined) return json(200, operation(jsonOperations, target)(JSON.parse(body)));
      if (path === '/') {
        const { Action = '', ...input } = Object.fromEntries(new URLSearchParams(body));
        const result = xml(operation(queryOperations, Action)(input));
        return response(
          200,
          'text/xml',
          `<${Action}Response><${Action}Result>${result}</${Action}Result></${Action}Response>`,
        );
      }
      return json(200, operation(restOperations, `${method} ${path.replace(/\/$/, '')}`)(body ? JSON.parse(body) : {}));
    } catch (thrown) {
      if (!(thrown instanceof AwsError)) throw thrown;
      const { code, message } = thrown;
      if (target !== undefined) return json(400, { __type: code, message });
      return response(
        400,
        'text/xml',
        `<ErrorResponse><Error>${xml({ Type: 'Sender', Code: code, Message: message })}</Error></ErrorResponse>`,
      );
    }
  }

  function operation<Result>(operations: Record<string, (input: Input) => Result>, name: string) {
    const found = operations[name];
    if (!found) throw new AwsError('InvalidAction', `The fake has no ${name}.`);
    return found;
  }

  /** The tables of the engine have no prefix and no suffix. */
  async function respondAsDatabase({ headers, body }: ReceivedRequest): Promise<FakeResponse> {
    const { authorization = '', 'x-amz-target': target = '', 'content-type': type = '' } = headers;
    // Functions cache a token for 60 s.
    if (target.includes('DeleteItem')) revokedAt = now;
    const received = await fetch(world.databaseUrl, {
      method: 'POST',
      headers: {
        authorization,
        'x-amz-target': String(target),
        'content-type': type,
        'x-amz-date': String(headers['x-amz-date']),
      },
      body: body.replaceAll(/PlantStore-trial-(\w+)-1A2B/g, '$1'),
    });
    return response(received.status, 'application/x-amz-json-1.0', await received.text());
  }

  async function respond(request: ReceivedRequest): Promise<FakeResponse> {
    if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256')) return await respondAsAws(request);
    const [path = '', argument = ''] = request.path.split('?');
    if (path === '/date') return response(200, 'text/plain', String(now));
    if (path === '/sleep') {
      sleep(Number(argument));
      return response(200, 'text/plain', '');
    }
    if (path === '/cdk') return response((await deploy(argument, request.body)) ? 200 : 500, 'text/plain', '');
    return await respondAsApi(request);
  }

  return { ...state, respond };
}
