import type { App } from 'aws-cdk-lib';
import { z } from 'zod';

const text = (pattern: RegExp, expected: string) =>
  z.string().regex(pattern, `Invalid input: expected ${expected}`).optional();
/** True or false, also as text, because `-c` always sets text. */
const flag = z.coerce
  .string<string | boolean>()
  .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }))
  .default(false);
const isOrigin = (origin: string) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin;

/** The settings that only the context (`-c` or cdk.json) can set, not infra/stages.ts. */
const contextOnly = {
  /** Name of an additional stack, such as `dev`. @default none: the default stack */
  stage: text(
    /^(?!default$)[a-z][a-z0-9-]{0,30}$/i,
    'a letter and up to 30 letters, digits or hyphens, and not "default", the name of the stack without a stage',
  ),
  /** Makes an ephemeral stack: `cdk destroy` deletes all of it, including the data. @default false */
  ephemeral: flag,
  /** Moves all traffic to new versions at once, without pre-traffic check and canary. @default false */
  skipReleaseChecks: flag,
};

/** The settings of a stage. */
const ofStage = {
  /** Email address that receives the alarms. @default none */
  alarmEmail: z.email().optional(),
  /** URL of docs/operations.md, which the alarms link to. @default none: the alarms name the file */
  runbookUrl: text(/^https:\/\/[^\s#]{1,500}$/, 'an https URL of up to 500 characters, without #'),
  /** Custom host name of the API. Needs `hostedZoneId`. @default the host name of API Gateway */
  domainName: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a host name in lower case'),
  /** Id of the Route 53 hosted zone of `domainName`. @default none */
  hostedZoneId: text(/^Z[A-Z0-9]+$/, 'the id of a Route 53 hosted zone, such as Z0123456789ABC'),
  /** Origins whose pages can read the responses (CORS), separated by commas, or `*`. @default none */
  allowOrigins: z
    .string()
    .transform((value) => value.split(','))
    .refine((origins) => origins.join() === '*' || origins.every(isOrigin), {
      error: 'Invalid input: expected origins such as https://app.example.com, separated by commas, or *',
    })
    .default([]),
  /** Issuer (`iss`) of the JWTs that the API accepts. Needs `tokenAudience`. @default none: JWTs are rejected */
  tokenIssuer: text(
    /^https:\/\/[^\s?#@:/]+(:\d+)?(\/[^\s?#@]*)?$/,
    'the https URL in the claim "iss" of the identity provider’s tokens',
  ),
  /** Accepted audiences, separated by commas. A JWT's `aud` must contain one of them. @default none */
  tokenAudience: text(/^[^\s,]+(,[^\s,]+)*$/, 'one or more audiences, separated by commas'),
  /** Scope that a JWT must contain (RFC 6749, 3.3). @default none: a JWT needs no scope */
  tokenScope: text(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'one scope, without spaces, quotes or backslashes'),
  /** Requests per second that each method accepts. The burst limit is twice this number. @default 100 */
  requestsPerSecond: z.coerce.number<string | number>().int().min(1).max(999_999).default(100),
  /** Creates the role that API Gateway uses to write logs. An account needs one per region. @default false */
  cloudWatchRole: flag,
};

const stageSchema = z
  .strictObject(ofStage)
  .refine((it) => !it.domainName === !it.hostedZoneId, 'The settings domainName and hostedZoneId need each other')
  .refine((it) => !it.tokenIssuer === !it.tokenAudience, 'The settings tokenIssuer and tokenAudience need each other')
  .refine((it) => it.tokenIssuer || !it.tokenScope, 'The setting tokenScope needs tokenIssuer');
const contextSchema = z.object({ ...contextOnly, ...ofStage });
/** The names of all settings. The context can set each of them: `-c NAME=VALUE`. */
const settingKeys = Object.keys(contextSchema.shape);

type Values = Record<string, unknown>;

/** The settings of a stack, with their defaults above. docs/deploying.md explains them. */
export type StackSettings = z.output<typeof contextSchema>;

/** The settings in infra/stages.ts, by stage. `default` is the stack without a stage. */
export type Stages = Record<string, z.input<typeof stageSchema>>;

/**
 * Reads the settings from the context (`-c` and cdk.json) and, for the keys that are not in it, from `stages`. Ephemeral
 * stacks ignore `stages`, so that they cannot take over a stage's domain.
 *
 * Also returns a warning for each setting that the person who deploys should check.
 *
 * @throws if a setting of any stage is invalid. The message contains its name, its value and the expected value.
 */
export function readSettings(app: App, stages: Stages = {}) {
  for (const [stage, settings] of Object.entries(stages)) {
    const prefix = `In infra/stages.ts, in the stage ${JSON.stringify(stage)}: `;
    if (stage !== 'default') parse(contextSchema, { stage }, prefix);
    parse(stageSchema, settings, prefix);
  }
  const values: Values = app.node.getAllContext();
  // CDK's own keys contain a colon, an at sign or a slash, except this one.
  const unknown = Object.keys(values).find((key) => !/[:@/]|^cli-telemetry$/.test(key) && !settingKeys.includes(key));
  if (unknown !== undefined) {
    throw new Error(`The setting "${unknown}" does not exist; it must be one of ${settingKeys.join(', ')}.`);
  }
  const context = parse(contextSchema, values);
  const fromContext = Object.fromEntries(Object.entries(values).filter(([key]) => key in ofStage));
  const fromStage: Values = context.ephemeral ? {} : (stages[context.stage ?? 'default'] ?? {});
  const settings: StackSettings = { ...context, ...parse(stageSchema, { ...fromStage, ...fromContext }) };
  return { settings, warnings: warningsOf(settings, fromStage, fromContext) };
}

function warningsOf(settings: StackSettings, fromStage: Values, fromContext: Values) {
  const { stage = 'default', ephemeral, skipReleaseChecks } = settings;
  const warnings: Record<string, string> = {};
  if (skipReleaseChecks) {
    warnings['skipReleaseChecks'] =
      'The setting "skipReleaseChecks" is true: this deployment moves all traffic at once, unchecked. Remove it afterwards.';
  }
  for (const [key, value] of ephemeral ? [] : Object.entries(fromContext)) {
    if (String(value) === String(fromStage[key])) continue;
    warnings[key] =
      `The setting "${key}" is ${JSON.stringify(value)} for this deployment only. The next one without -c ${key} ` +
      `uses ${JSON.stringify(fromStage[key]) ?? 'the default'} (infra/stages.ts, stage "${stage}").`;
  }
  if (fromContext['cloudWatchRole'] === undefined && fromStage['cloudWatchRole'] === undefined) {
    warnings['cloudWatchRole'] =
      'The setting "cloudWatchRole" is missing. Without a role for logs, one per account and region, the first ' +
      'deployment fails. Run: aws apigateway get-account --query cloudwatchRoleArn. If it prints null, set ' +
      'cloudWatchRole to true, which creates the role. If it prints a role, set it to false, because true replaces it.';
  }
  return warnings;
}

/** Parses values. If some are invalid, throws zod's messages, each after the name and the value of the setting. */
function parse<Schema extends z.ZodType>(schema: Schema, values: Values, prefix = ''): z.output<Schema> {
  const { error, data } = schema.safeParse(values);
  if (!error) return data;
  const problems = error.issues.map(({ path: [key], message }) =>
    key === undefined ? message : `The setting "${String(key)}" was ${JSON.stringify(values[String(key)])}: ${message}`,
  );
  throw new Error(`${prefix}${problems.join('. ')}.`);
}
