import type { App } from 'aws-cdk-lib';
import { z } from 'zod';

/** An optional value as text: `-c` gives text, infra/stages.ts may have a number or a boolean. */
const text = (pattern: RegExp, expected: string) => z.coerce.string().regex(pattern, expected).optional();
const flag = () => text(/^(true|false)$/, 'true or false').transform((value) => value === 'true');

/** The settings that decide which stack is synthesized, and how. Only `-c` can set them, so infra/stages.ts cannot. */
const STACK_SELECTORS = {
  /** The name of a stack beside the default one. @default none */
  stage: text(
    /^(?!default$)[a-z][a-z0-9-]{0,30}$/i,
    'up to 31 letters, digits or hyphens, a letter first; and not "default", which is the stack without a stage',
  ),
  /** Makes an ephemeral stack: `cdk destroy` removes all of it, the data included. @default false */
  throwaway: flag(),
  /** Leaves out what emulators of AWS lack: gradual releases and monitoring. @default false */
  emulator: flag(),
  /** Moves aliases to new versions at once, without pre-traffic check and canary. @default false */
  skipReleaseChecks: flag(),
};

const STAGE_SETTINGS = {
  /** Email address that receives the alarms. @default none */
  alarmEmail: text(/^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'an email address'),
  /** Host name of the API; needs `hostedZoneId`. @default the name that API Gateway gives it */
  domainName: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name in lower case'),
  /** Route 53 zone of `domainName`. @default none */
  hostedZoneId: text(/^Z[A-Z0-9]+$/, 'the id of a Route 53 hosted zone, as in Z0123456789ABC'),
  /** Origins whose pages may call the API, or `*` alone. @default none */
  allowOrigins: z.coerce
    .string()
    .transform((value) => value.split(','))
    .refine(areOrigins, 'origins as in https://app.example.com, separated by commas, or *')
    .default([]),
  /** `iss` of the identity provider whose JWTs the API accepts; needs `tokenAudience`. @default none */
  tokenIssuer: text(
    /^https:\/\/[^\s?#@]+$/,
    'the https address of an identity provider, exactly as its tokens have it in "iss"',
  ).refine((value) => value === undefined || URL.canParse(value), 'the https address of an identity provider'),
  /** Audiences, separated by commas; a JWT's `aud` must have one of them. @default none */
  tokenAudience: text(/^[^\s,]+(,[^\s,]+)*$/, 'one or several audiences, separated by commas'),
  /** Scope that a JWT must have (RFC 6749, 3.3). @default none */
  tokenScope: text(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'one scope, without spaces, quotes or backslashes'),
  /** Requests per second that each method accepts; twice as many in a burst. @default 100 */
  requestsPerSecond: text(/^[1-9]\d{0,5}$/, 'a number from 1 to 999999').transform((value) => Number(value ?? 100)),
  /** ARN of the web ACL that protects the API's stage. @default none */
  webAclArn: text(
    /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[\w-]+\/[\w-]+$/,
    'the ARN of a regional web ACL',
  ),
  /** Makes the role with which API Gateway writes logs, one for each account and region. @default false */
  cloudWatchRole: flag(),
};

type Selector = keyof typeof STACK_SELECTORS;
type StageSetting = keyof typeof STAGE_SETTINGS;

const selectorKeys = Object.keys(STACK_SELECTORS) as Selector[];
const stageKeys = Object.keys(STAGE_SETTINGS) as StageSetting[];
/** All context keys of the stack. */
export const settingKeys = [...selectorKeys, ...stageKeys];

const selectorsSchema = z.object(STACK_SELECTORS);
const stageSchema = z
  .strictObject(STAGE_SETTINGS)
  .refine(
    ({ domainName, hostedZoneId }) => (domainName === undefined) === (hostedZoneId === undefined),
    'Of the context keys "domainName" and "hostedZoneId" one was given; it must be both or none.',
  )
  .refine(
    ({ tokenIssuer, tokenAudience }) => (tokenIssuer === undefined) === (tokenAudience === undefined),
    'Of the context keys "tokenIssuer" and "tokenAudience" one was given; it must be both or none.',
  )
  .refine(
    ({ tokenIssuer, tokenScope }) => tokenIssuer !== undefined || tokenScope === undefined,
    'The context key "tokenScope" needs "tokenIssuer" and "tokenAudience".',
  );

/** The settings of a stack, each under the name of its context key. docs/deploying.md lists them. */
export type StackSettings = z.output<typeof selectorsSchema> & z.output<typeof stageSchema>;

/** What infra/stages.ts has for each stage. `default` is the stack without a stage. */
export type Stages = Record<string, Partial<Record<StageSetting, string | number | boolean>>>;

/**
 * Reads the context keys of `-c` and cdk.json, and the stage's settings for the keys that are not given. An ephemeral
 * stack and a stack for an emulator have no stage's settings: they must not take the domain of one.
 *
 * @throws a sentence that names the key, its value and what it must be. Each call checks all stages, so that a mistake
 * shows before the stage is deployed.
 */
export function readSettings(app: App, stages: Stages = {}): StackSettings {
  for (const [stage, settings] of Object.entries(stages)) {
    const where = `In infra/stages.ts, in the stage ${JSON.stringify(stage)}: `;
    if (stage !== 'default') parse(selectorsSchema, { stage }, where);
    parse(stageSchema, settings, where);
  }
  const { selectors, ofStage, ofCommand } = sources(app, stages);
  return { ...selectors, ...parse(stageSchema, { ...ofStage, ...ofCommand }) };
}

/** `PlantStore-dev`. An ephemeral stack has another name, so that it cannot replace a lasting stack. */
export function stackName({ throwaway, stage }: Pick<StackSettings, Selector>): string {
  return `PlantStore${throwaway ? 'Throwaway' : ''}${stage === undefined ? '' : `-${stage}`}`;
}

/** Sentences that the person who deploys must read first, by the key that each is about. */
export function settingWarnings(app: App, stages: Stages): Map<string, string> {
  const { selectors, ofStage, ofCommand } = sources(app, stages);
  const { stage = 'default', throwaway, emulator, skipReleaseChecks } = selectors;
  const warnings = new Map<string, string>();
  if (emulator) return warnings;
  if (skipReleaseChecks) {
    warnings.set(
      'skipReleaseChecks',
      'The context key "skipReleaseChecks" is true: this deployment moves all traffic to the new versions at once, ' +
        'without pre-traffic check and canary. Leave it out of the next deployment.',
    );
  }
  for (const [key, value] of throwaway ? [] : Object.entries(ofCommand)) {
    const kept = ofStage[key as StageSetting];
    if (String(value) === String(kept)) continue;
    warnings.set(
      key,
      `The context key "${key}" is ${JSON.stringify(value)} for this deployment only. The stage "${stage}" has ` +
        `${JSON.stringify(kept) ?? 'none'} in infra/stages.ts, and the next deployment without the key has that again.`,
    );
  }
  if (ofCommand.cloudWatchRole === undefined && ofStage.cloudWatchRole === undefined) {
    warnings.set(
      'cloudWatchRole',
      'The setting cloudWatchRole is missing. If this account and region have no role with which API Gateway writes ' +
        'logs, a first deployment fails halfway. Run: aws apigateway get-account --query cloudwatchRoleArn. If it ' +
        'prints null, set cloudWatchRole to true, which makes the role. If it prints a role, set it to false, because ' +
        `true would replace that role. Set it by -c${throwaway ? '' : `, or for the stage "${stage}" in infra/stages.ts`}.`,
    );
  }
  return warnings;
}

/** The selectors, and the other settings as infra/stages.ts and as the context keys have them. */
function sources(app: App, stages: Stages) {
  const given = <Key extends string>(keys: Key[]) => {
    const values = keys.map((key) => [key, app.node.tryGetContext(key)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Partial<Record<Key, unknown>>;
  };
  const selectors = parse(selectorsSchema, given(selectorKeys));
  const { stage = 'default', throwaway, emulator } = selectors;
  const ofStage = throwaway || emulator ? {} : (stages[stage] ?? {});
  return { selectors, ofStage, ofCommand: given(stageKeys) };
}

/** Throws a sentence about the first issue, with `where` before it. */
function parse<Schema extends z.ZodType>(schema: Schema, values: object, where = ''): z.output<Schema> {
  const { data, error } = schema.safeParse(values);
  const [issue] = error?.issues ?? [];
  if (!issue) return data as z.output<Schema>;
  if (issue.code === 'unrecognized_keys') {
    throw new Error(`${where}The key "${issue.keys[0]}" is unknown; it must be one of ${stageKeys.join(', ')}.`);
  }
  const [key] = issue.path as (keyof typeof values)[];
  if (key === undefined) throw new Error(`${where}${issue.message}`);
  const value = JSON.stringify(values[key]);
  throw new Error(`${where}The context key "${key}" was ${value}; it must be ${issue.message}.`);
}

function areOrigins(origins: string[]): boolean {
  if (origins.join() === '*') return true;
  return origins.every((origin) => origin.startsWith('http') && URL.parse(origin)?.origin === origin);
}
