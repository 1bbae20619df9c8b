import type { App } from 'aws-cdk-lib';
import { z } from 'zod';

/** An optional value as text: `-c` gives text, infra/stages.ts may have a number or a boolean. */
const text = (pattern: RegExp, expected: string) => z.coerce.string().regex(pattern, expected).optional();
const flag = () => text(/^(true|false)$/, 'true or false').transform((value) => value === 'true');

/** The settings that decide which stack is synthesized, and how. Only `-c` can set them, so infra/stages.ts cannot. */
const selectorSchema = z.object({
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
});

const stageSchema = z
  .strictObject({
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
      /^https:\/\/[^\s?#@:/]+(:\d+)?(\/[^\s?#@]*)?$/,
      'the https address that the provider’s tokens have in "iss"',
    ),
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
      addIssue(`The context key "${key}" needs "${needed}".`);
    }
  });

const stageKeys = Object.keys(stageSchema.shape);
/** All context keys of the stack. */
export const settingKeys = [...Object.keys(selectorSchema.shape), ...stageKeys];

type Selectors = z.output<typeof selectorSchema>;
type Values = Record<string, unknown>;

/** The settings of a stack, each under the name of its context key. docs/deploying.md lists them. */
export type StackSettings = Selectors & z.output<typeof stageSchema>;

/** What infra/stages.ts has for each stage. `default` is the stack without a stage. */
export type Stages = Record<string, Partial<Record<keyof z.output<typeof stageSchema>, string | number | boolean>>>;

/**
 * Reads the context keys of `-c` and cdk.json, and the stage's settings for the keys that are not given. An ephemeral
 * stack and a stack for an emulator have no stage's settings: they must not take the domain of one.
 *
 * Also returns sentences that the person who deploys must read first, by the key that each is about.
 *
 * @throws a sentence that names the key, its value and what it must be. Each call checks all stages, so that a mistake
 * shows before the stage is deployed.
 */
export function readSettings(app: App, stages: Stages = {}) {
  for (const [stage, settings] of Object.entries(stages)) {
    const where = `In infra/stages.ts, in the stage ${JSON.stringify(stage)}: `;
    if (stage !== 'default') parse(selectorSchema, { stage }, where);
    parse(stageSchema, settings, where);
  }
  const context: Values = app.node.getAllContext();
  const selectors = parse(selectorSchema, context);
  const { stage = 'default', throwaway, emulator } = selectors;
  const ofStage: Values = throwaway || emulator ? {} : (stages[stage] ?? {});
  const ofCommand = Object.fromEntries(Object.entries(context).filter(([key]) => stageKeys.includes(key)));
  const settings: StackSettings = { ...selectors, ...parse(stageSchema, { ...ofStage, ...ofCommand }) };
  return { settings, warnings: emulator ? {} : warningsOf(selectors, ofStage, ofCommand) };
}

function warningsOf(
  { stage = 'default', throwaway, skipReleaseChecks }: Selectors,
  ofStage: Values,
  ofCommand: Values,
) {
  const warnings: Record<string, string> = {};
  if (skipReleaseChecks) {
    warnings['skipReleaseChecks'] =
      'The context key "skipReleaseChecks" is true: this deployment moves all traffic to the new versions at once, ' +
      'without pre-traffic check and canary. Leave it out of the next deployment.';
  }
  for (const [key, value] of throwaway ? [] : Object.entries(ofCommand)) {
    const kept = ofStage[key];
    if (String(value) === String(kept)) continue;
    warnings[key] =
      `The context key "${key}" is ${JSON.stringify(value)} for this deployment only. The stage "${stage}" has ` +
      `${JSON.stringify(kept) ?? 'none'} in infra/stages.ts, and the next deployment without the key has that again.`;
  }
  if (ofCommand['cloudWatchRole'] === undefined && ofStage['cloudWatchRole'] === undefined) {
    warnings['cloudWatchRole'] =
      'The setting cloudWatchRole is missing. If this account and region have no role with which API Gateway writes ' +
      'logs, a first deployment fails halfway. Run: aws apigateway get-account --query cloudwatchRoleArn. If it ' +
      'prints null, set cloudWatchRole to true, which makes the role. If it prints a role, set it to false, because ' +
      `true would replace that role. Set it by -c${throwaway ? '' : `, or for the stage "${stage}" in infra/stages.ts`}.`;
  }
  return warnings;
}

/** Throws a sentence about the first issue, with `where` before it. */
function parse<Schema extends z.ZodType>(schema: Schema, values: Values, where = ''): z.output<Schema> {
  const { data, error } = schema.safeParse(values);
  const [issue] = error?.issues ?? [];
  if (!issue) return data as z.output<Schema>;
  const [key] = issue.path;
  if (key === undefined) throw new Error(where + issue.message);
  const value = JSON.stringify(values[String(key)]);
  throw new Error(`${where}The context key "${String(key)}" was ${value}; it must be ${issue.message}.`);
}

function areOrigins(origins: string[]): boolean {
  if (origins.join() === '*') return true;
  return origins.every((origin) => origin.startsWith('http') && URL.parse(origin)?.origin === origin);
}
