import type { App } from 'aws-cdk-lib';

/** What a stack is made by, each with its default; docs/deploying.md lists the keys. */
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
  /** The identity provider whose JWTs are access tokens too. Default: none. */
  tokenIssuer: TokenIssuer | undefined;
  /** Requests a second that the API lets through; twice as many in a burst. Default: 100. */
  requestsPerSecond: number;
  /** The web ACL that the API's stage is put behind. Default: none. */
  webAclArn: string | undefined;
  /** Whether to make the role by which API Gateway may write logs, one for an account and region. Default: false. */
  cloudWatchRole: boolean;
  /** Whether to leave out what emulators of AWS lack: gradual releases and monitoring. Default: false. */
  emulator: boolean;
  /** Whether aliases move to new versions at once, without pre-traffic check and canary. Default: false. */
  skipReleaseChecks: boolean;
}

export interface Domain {
  domainName: string;
  hostedZoneId: string;
}

export interface TokenIssuer {
  issuer: string;
  /** One of them must be in a token's `aud`. */
  audiences: string[];
  /** What a token must have in its `scope`. Default: nothing. */
  scope: string | undefined;
}

const DEFAULT = 'default';

/** What a value must be. */
interface Kind {
  pattern: RegExp;
  words: string;
}

const FLAG: Kind = { pattern: /^(true|false)$/, words: 'true or false' };

/** Given by `-c` alone. In infra/stages.ts the first three would make another stack, and the last one would stay. */
const OF_COMMAND = {
  stage: {
    pattern: /^(?!default$)[a-z][a-z0-9-]{0,30}$/i,
    words: 'up to 31 letters, digits or hyphens, a letter first; and not "default", which is the stack without a stage',
  },
  throwaway: FLAG,
  emulator: FLAG,
  skipReleaseChecks: FLAG,
};

const SETTINGS = {
  alarmEmail: { pattern: /^[^@\s]+@[^@\s]+\.[^@\s]+$/, words: 'an e-mail address' },
  domainName: { pattern: /^([a-z0-9-]+\.)+[a-z]{2,}$/, words: 'a host name in lower case' },
  hostedZoneId: { pattern: /^Z[A-Z0-9]+$/, words: 'the id of a Route 53 hosted zone, as in Z0123456789ABC' },
  allowOrigins: { pattern: /./, words: 'origins, separated by commas' },
  tokenIssuer: {
    pattern: /^https:\/\/[^\s?#@]+$/,
    words: 'the https address of an identity provider, exactly as its tokens have it in "iss"',
  },
  tokenAudience: { pattern: /^[^\s,]+(,[^\s,]+)*$/, words: 'one or several audiences, separated by commas' },
  // RFC 6749, 3.3.
  tokenScope: { pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/, words: 'one scope, without spaces, quotes or backslashes' },
  requestsPerSecond: { pattern: /^[1-9]\d{0,5}$/, words: 'a number from 1 to 999999' },
  webAclArn: {
    pattern: /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[\w-]+\/[\w-]+$/,
    words: 'the ARN of a regional web ACL',
  },
  cloudWatchRole: FLAG,
};

/** The settings of a stage: context keys, each with the value that `-c` would give it. */
export type Settings = Partial<Record<keyof typeof SETTINGS, string | number | boolean>>;

/** Settings by the stage's name; `default` is the stack without a stage. */
export type Stages = Record<string, Settings>;

/** Checked values, as text. */
type Values<Key extends string> = Partial<Record<Key, string>>;

/**
 * Reads the context keys of `-c` and cdk.json, and for those that are not given the stage's settings. A throw-away
 * stack, and one for an emulator, is none of the stages: it must not ask for the domain of one.
 *
 * Throws a sentence that names the key, and the stage where it is one's, where a value is not of its kind. All stages
 * are checked each time, so that a mistake is found before the stage's turn comes.
 */
export function readContext(app: App, stages: Stages = {}): StackContext {
  for (const [stage, settings] of Object.entries(stages)) checkStage(stage, settings);
  const { stage, throwaway, emulator, skipReleaseChecks } = given(app, OF_COMMAND);
  const values = { ...settingsOf(app, stages), ...given(app, SETTINGS) };
  return {
    stage,
    throwaway: throwaway === 'true',
    alarmEmail: values.alarmEmail,
    domain: domain(values),
    allowOrigins: origins(values),
    tokenIssuer: tokenIssuer(values),
    requestsPerSecond: Number(values.requestsPerSecond ?? 100),
    webAclArn: values.webAclArn,
    cloudWatchRole: values.cloudWatchRole === 'true',
    emulator: emulator === 'true',
    skipReleaseChecks: skipReleaseChecks === 'true',
  };
}

/** What whoever deploys must know before anything is made or taken away: sentences, by the key that each is about. */
export function warningsOf(app: App, stages: Stages): Map<string, string> {
  const { stage = DEFAULT, throwaway, emulator, skipReleaseChecks } = given(app, OF_COMMAND);
  const warnings = new Map<string, string>();
  if (emulator === 'true') return warnings;
  if (skipReleaseChecks === 'true') {
    warnings.set(
      'skipReleaseChecks',
      'The context key "skipReleaseChecks" is true: this deployment moves all traffic to the new versions at once, ' +
        'without pre-traffic check and canary. Leave it out of the next deployment.',
    );
  }
  const settings: Values<string> = settingsOf(app, stages);
  const asked: Values<string> = given(app, SETTINGS);
  for (const [key, value] of throwaway === 'true' ? [] : Object.entries(asked)) {
    if (value === settings[key]) continue;
    const kept = settings[key] === undefined ? 'none' : JSON.stringify(settings[key]);
    warnings.set(
      key,
      `The context key "${key}" is ${JSON.stringify(value)} for this deployment only. The stage "${stage}" has ${kept} in ` +
        'infra/stages.ts, and the next deployment without the key goes back to that.',
    );
  }
  if ({ ...settings, ...asked }['cloudWatchRole'] === undefined) {
    warnings.set(
      'cloudWatchRole',
      'It is not said whether this account and region have the role by which API Gateway writes logs; without it a ' +
        'first deployment fails halfway. Run: aws apigateway get-account --query cloudwatchRoleArn. Where it prints ' +
        'null, set cloudWatchRole to true, which makes the role; where it prints a role, to false, since true would ' +
        `replace that one. Set it by -c${throwaway === 'true' ? '' : `, or for the stage "${stage}" in infra/stages.ts`}.`,
    );
  }
  return warnings;
}

/** The settings of the stage that the context keys name, none where it is no stage of the file. */
function settingsOf(app: App, stages: Stages): Values<keyof typeof SETTINGS> {
  const { stage = DEFAULT, throwaway, emulator } = given(app, OF_COMMAND);
  if (throwaway === 'true' || emulator === 'true') return {};
  return checked(SETTINGS, (key) => stages[stage]?.[key]);
}

function checkStage(stage: string, settings: Settings): void {
  const { pattern, words } = OF_COMMAND.stage;
  if (stage !== DEFAULT && !pattern.test(stage)) {
    throw new Error(`In infra/stages.ts, a stage was ${JSON.stringify(stage)}; it must be "default", or ${words}.`);
  }
  try {
    checkSettings(settings);
  } catch (error) {
    throw new Error(`In infra/stages.ts, in the stage ${JSON.stringify(stage)}: ${(error as Error).message}`);
  }
}

function checkSettings(settings: Settings): void {
  for (const [key, value] of Object.entries(settings)) {
    if (Object.hasOwn(SETTINGS, key)) continue;
    const keys = Object.keys(SETTINGS).join(', ');
    throw new Error(`The key "${key}" (here ${JSON.stringify(value)}) is unknown; it must be one of ${keys}.`);
  }
  const values = checked(SETTINGS, (key) => settings[key]);
  domain(values);
  origins(values);
  tokenIssuer(values);
}

function given<Key extends string>(app: App, kinds: Record<Key, Kind>): Values<Key> {
  return checked(kinds, (key) => app.node.tryGetContext(key));
}

/** The values there are, as text: a flag or a number is one from the command line, and none from a file. */
function checked<Key extends string>(kinds: Record<Key, Kind>, read: (key: Key) => unknown): Values<Key> {
  const values: Values<Key> = {};
  for (const key in kinds) {
    const value = read(key);
    if (value === undefined) continue;
    const { pattern, words } = kinds[key];
    if (!pattern.test(String(value))) throw refusal(key, value, words);
    values[key] = String(value);
  }
  return values;
}

function domain({ domainName, hostedZoneId }: Values<keyof Domain>): Domain | undefined {
  if (domainName !== undefined && hostedZoneId !== undefined) return { domainName, hostedZoneId };
  if (domainName === undefined && hostedZoneId === undefined) return undefined;
  throw new Error(`Of the context keys "domainName" and "hostedZoneId" one was given; it must be both or none.`);
}

function origins({ allowOrigins }: Values<'allowOrigins'>): string[] {
  const list = allowOrigins?.split(',') ?? [];
  if (list.join() === '*') return list;
  for (const origin of list) {
    if (!origin.startsWith('http') || URL.parse(origin)?.origin !== origin) {
      const words = 'origins as in https://app.example.com, separated by commas, or *';
      throw refusal('allowOrigins', allowOrigins, words);
    }
  }
  return list;
}

function tokenIssuer(values: Values<'tokenIssuer' | 'tokenAudience' | 'tokenScope'>): TokenIssuer | undefined {
  const { tokenIssuer: issuer, tokenAudience: audience, tokenScope: scope } = values;
  if (issuer !== undefined && audience !== undefined) {
    if (!URL.canParse(issuer)) throw refusal('tokenIssuer', issuer, SETTINGS.tokenIssuer.words);
    return { issuer, audiences: audience.split(','), scope };
  }
  if (issuer !== undefined || audience !== undefined) {
    throw new Error(`Of the context keys "tokenIssuer" and "tokenAudience" one was given; it must be both or none.`);
  }
  if (scope === undefined) return undefined;
  throw new Error(
    `The context key "tokenScope" was ${JSON.stringify(scope)} without "tokenIssuer"; it must have both.`,
  );
}

function refusal(key: string, value: unknown, words: string): Error {
  return new Error(`The context key "${key}" was ${JSON.stringify(value)}; it must be ${words}.`);
}
