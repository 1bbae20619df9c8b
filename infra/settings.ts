import type { App } from 'aws-cdk-lib';
import { z } from 'zod';

/** An optional text. `-c` always sets text; infra/stages.ts may contain a number or a boolean. */
const optionalText = (pattern: RegExp, expected: string) => z.coerce.string().regex(pattern, expected).optional();
const optionalFlag = () => optionalText(/^(true|false)$/, 'true or false').transform((value) => value === 'true');

/** The settings that only the context (`-c` or cdk.json) can set, not infra/stages.ts. */
const contextOnlySchema = z.object({
  /** Name of an additional stack, such as `dev`. @default none: the default stack */
  stage: optionalText(
    /^(?!default$)[a-z][a-z0-9-]{0,30}$/i,
    'a letter and up to 30 letters, digits or hyphens, and not "default", the name of the stack without a stage',
  ),
  /** Makes an ephemeral stack: `cdk destroy` deletes all of it, including the data. @default false */
  ephemeral: optionalFlag(),
  /** Leaves out what AWS emulators do not support: gradual releases and monitoring. @default false */
  emulator: optionalFlag(),
  /** Moves all traffic to new versions at once, without pre-traffic check and canary. @default false */
  skipReleaseChecks: optionalFlag(),
});

const stageSchema = z
  .strictObject({
    /** Email address that receives the alarms. @default none */
    alarmEmail: optionalText(/^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'an email address'),
    /** URL of docs/operations.md, which the alarms link to. @default none: the alarms name the file */
    runbookUrl: optionalText(/^https:\/\/[^\s#]{1,500}$/, 'an https URL of up to 500 characters, without #'),
    /** Custom host name of the API. Needs `hostedZoneId`. @default the host name of API Gateway */
    domainName: optionalText(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name in lower case'),
    /** Id of the Route 53 hosted zone of `domainName`. @default none */
    hostedZoneId: optionalText(/^Z[A-Z0-9]+$/, 'the id of a Route 53 hosted zone, such as Z0123456789ABC'),
    /** Origins whose pages can read the responses (CORS), separated by commas, or `*`. @default none */
    allowOrigins: z.coerce
      .string()
      .transform((value) => value.split(','))
      .refine(areOrigins, 'origins such as https://app.example.com, separated by commas, or *')
      .default([]),
    /** Issuer (`iss`) of the JWTs that the API accepts. Needs `tokenAudience`. @default none: JWTs are rejected */
    tokenIssuer: optionalText(
      /^https:\/\/[^\s?#@:/]+(:\d+)?(\/[^\s?#@]*)?$/,
      'the https URL in the claim "iss" of the identity provider’s tokens',
    ),
    /** Accepted audiences, separated by commas. A JWT's `aud` must contain one of them. @default none */
    tokenAudience: optionalText(/^[^\s,]+(,[^\s,]+)*$/, 'one or more audiences, separated by commas'),
    /** Scope that a JWT must contain (RFC 6749, 3.3). @default none: a JWT needs no scope */
    tokenScope: optionalText(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'one scope, without spaces, quotes or backslashes'),
    /** Requests per second that each method accepts. The burst limit is twice this number. @default 100 */
    requestsPerSecond: optionalText(/^[1-9]\d{0,5}$/, 'a number from 1 to 999999').transform((value) =>
      Number(value ?? 100),
    ),
    /** ARN of the web ACL to attach to the API stage. @default none */
    webAclArn: optionalText(
      /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[\w-]+\/[\w-]+$/,
      'the ARN of a regional web ACL',
    ),
    /** Creates the role that API Gateway uses to write logs. An account needs one per region. @default false */
    cloudWatchRole: optionalFlag(),
  })
  .superRefine((settings, { addIssue }) => {
    const needs = [
      ['domainName', 'hostedZoneId'],
      ['hostedZoneId', 'domainName'],
      ['tokenIssuer', 'tokenAudience'],
      ['tokenAudience', 'tokenIssuer'],
      ['tokenScope', 'tokenIssuer'],
    ] as const;
    for (const [key, needed] of needs) {
      if (settings[key] === undefined || settings[needed] !== undefined) continue;
      addIssue(`The setting "${key}" needs "${needed}".`);
    }
  });

const stageKeys = Object.keys(stageSchema.shape);
/** The names of all settings. The context can set each of them: `-c NAME=VALUE`. */
export const settingKeys = [...Object.keys(contextOnlySchema.shape), ...stageKeys];

type ContextOnlySettings = z.output<typeof contextOnlySchema>;
type Values = Record<string, unknown>;

/** The settings of a stack, with their defaults above. docs/deploying.md explains them. */
export type StackSettings = ContextOnlySettings & z.output<typeof stageSchema>;

/** The settings in infra/stages.ts, by stage. `default` is the stack without a stage. */
export type Stages = Record<string, Partial<Record<keyof z.output<typeof stageSchema>, string | number | boolean>>>;

/**
 * Reads the settings from the context (`-c` and cdk.json) and, for the keys that are not in it, from `stages`. Ephemeral
 * and emulator stacks ignore `stages`, so that they cannot take over a stage's domain.
 *
 * Also returns a warning for each setting that the person who deploys should check.
 *
 * @throws if a setting of any stage is invalid. The message contains its name, its value and the expected value.
 */
export function readSettings(app: App, stages: Stages = {}) {
  for (const [stage, settings] of Object.entries(stages)) {
    const prefix = `In infra/stages.ts, in the stage ${JSON.stringify(stage)}: `;
    if (stage !== 'default') parse(contextOnlySchema, { stage }, prefix);
    parse(stageSchema, settings, prefix);
  }
  const context: Values = app.node.getAllContext();
  // CDK's own keys contain a colon, an at sign or a slash, except this one.
  const unknown = Object.keys(context).find((key) => !/[:@/]|^cli-telemetry$/.test(key) && !settingKeys.includes(key));
  if (unknown !== undefined) {
    throw new Error(`The setting "${unknown}" does not exist; it must be one of ${settingKeys.join(', ')}.`);
  }
  const contextOnly = parse(contextOnlySchema, context);
  const { stage = 'default', ephemeral, emulator } = contextOnly;
  const fromStage: Values = ephemeral || emulator ? {} : (stages[stage] ?? {});
  const fromContext = Object.fromEntries(Object.entries(context).filter(([key]) => stageKeys.includes(key)));
  const settings: StackSettings = { ...contextOnly, ...parse(stageSchema, { ...fromStage, ...fromContext }) };
  return { settings, warnings: emulator ? {} : warningsOf(contextOnly, fromStage, fromContext) };
}

function warningsOf(
  { stage = 'default', ephemeral, skipReleaseChecks }: ContextOnlySettings,
  fromStage: Values,
  fromContext: Values,
) {
  const warnings: Record<string, string> = {};
  if (skipReleaseChecks) {
    warnings['skipReleaseChecks'] =
      'The setting "skipReleaseChecks" is true: this deployment moves all traffic to the new versions at once, ' +
      'without pre-traffic check and canary. Remove it for the next deployment.';
  }
  for (const [key, value] of ephemeral ? [] : Object.entries(fromContext)) {
    const stageValue = fromStage[key];
    if (String(value) === String(stageValue)) continue;
    warnings[key] =
      `The setting "${key}" is ${JSON.stringify(value)} for this deployment only. The stage "${stage}" has ` +
      `${JSON.stringify(stageValue) ?? 'no value'} in infra/stages.ts. The next deployment without -c ${key} uses ${stageValue === undefined ? 'the default' : 'that value'}.`;
  }
  if (fromContext['cloudWatchRole'] === undefined && fromStage['cloudWatchRole'] === undefined) {
    warnings['cloudWatchRole'] =
      'The setting "cloudWatchRole" is missing. API Gateway needs a role to write logs, one per account and region. ' +
      'Without it, the first deployment fails. Run: aws apigateway get-account --query cloudwatchRoleArn. If it ' +
      'prints null, set cloudWatchRole to true, which creates the role. If it prints a role, set it to false, because ' +
      `true replaces that role. Set it with -c${ephemeral ? '' : `, or for the stage "${stage}" in infra/stages.ts`}.`;
  }
  return warnings;
}

/** Parses values. If they are invalid, throws a message about the first issue, with this prefix. */
function parse<Schema extends z.ZodType>(schema: Schema, values: Values, prefix = ''): z.output<Schema> {
  const { data, error } = schema.safeParse(values);
  const [issue] = error?.issues ?? [];
  if (!issue) return data as z.output<Schema>;
  const [key] = issue.path;
  if (key === undefined) throw new Error(prefix + issue.message);
  const value = JSON.stringify(values[String(key)]);
  throw new Error(`${prefix}The setting "${String(key)}" was ${value}; it must be ${issue.message}.`);
}

function areOrigins(origins: string[]): boolean {
  if (origins.join() === '*') return true;
  return origins.every((origin) => origin.startsWith('http') && URL.parse(origin)?.origin === origin);
}
