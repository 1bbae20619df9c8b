import type { App } from 'aws-cdk-lib';

/** What can be set with `-c KEY=VALUE`, each with its default; docs/deploying.md lists the keys. */
export interface StackContext {
  /** A name for a stack beside the default one. Default: none. */
  stage: string | undefined;
  /** Whether `cdk destroy` removes everything, the data included. Default: false. */
  throwaway: boolean;
  /** The address that alarms are mailed to. Default: none. */
  alarmEmail: string | undefined;
  /** `domainName` and `hostedZoneId`: a name of the user's own for the API. Default: none. */
  domain: Domain | undefined;
  /** The origins whose pages may call the API, or `*` alone. Default: none. */
  allowOrigins: string[];
  /** Requests a second that the API lets through; twice as many in a burst. Default: 100. */
  requestsPerSecond: number;
  /** The web ACL that the API's stage is put behind. Default: none. */
  webAclArn: string | undefined;
  /** Whether to make the role by which API Gateway may write logs, one for an account and region. Default: false. */
  cloudWatchRole: boolean;
  /** Whether to leave out what emulators of AWS lack: gradual releases and monitoring. Default: false. */
  emulator: boolean;
}

export interface Domain {
  domainName: string;
  hostedZoneId: string;
}

const WEB_ACL_ARN = /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[\w-]+\/[\w-]+$/;

/** Reads all context keys of the app. Throws a sentence that names the key where a value is not of its kind. */
export function readContext(app: App): StackContext {
  return {
    stage: text(app, 'stage', /^[a-z][a-z0-9-]{0,30}$/i, 'up to 31 letters, digits or hyphens, a letter first'),
    throwaway: flag(app, 'throwaway'),
    alarmEmail: text(app, 'alarmEmail', /^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'an e-mail address'),
    domain: domain(app),
    allowOrigins: origins(app),
    requestsPerSecond: Number(text(app, 'requestsPerSecond', /^[1-9]\d{0,5}$/, 'a number from 1 to 999999') ?? 100),
    webAclArn: text(app, 'webAclArn', WEB_ACL_ARN, 'the ARN of a regional web ACL'),
    cloudWatchRole: flag(app, 'cloudWatchRole'),
    emulator: flag(app, 'emulator'),
  };
}

function domain(app: App): Domain | undefined {
  const domainName = text(app, 'domainName', /^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name in lower case');
  const hostedZoneId = text(
    app,
    'hostedZoneId',
    /^Z[A-Z0-9]+$/,
    'the id of a Route 53 hosted zone, as in Z0123456789ABC',
  );
  if (domainName !== undefined && hostedZoneId !== undefined) return { domainName, hostedZoneId };
  if (domainName === undefined && hostedZoneId === undefined) return undefined;
  throw new Error('Of the context keys "domainName" and "hostedZoneId" one was given; it must be both or none.');
}

function origins(app: App): string[] {
  const list = text(app, 'allowOrigins', /./, 'origins, separated by commas')?.split(',') ?? [];
  if (list.join() === '*') return list;
  for (const origin of list) {
    if (!origin.startsWith('http') || URL.parse(origin)?.origin !== origin) {
      throw refusal('allowOrigins', list.join(), 'origins as in https://app.example.com, separated by commas, or *');
    }
  }
  return list;
}

function text(app: App, key: string, pattern: RegExp, kind: string): string | undefined {
  const value: unknown = app.node.tryGetContext(key);
  if (value === undefined) return undefined;
  // From the command line it is a string, from cdk.json perhaps a number.
  if (!pattern.test(String(value))) throw refusal(key, value, kind);
  return String(value);
}

function flag(app: App, key: string): boolean {
  return text(app, key, /^(true|false)$/, 'true or false') === 'true';
}

function refusal(key: string, value: unknown, kind: string): Error {
  return new Error(`The context key "${key}" was ${JSON.stringify(value)}; it must be ${kind}.`);
}
