import type { App } from 'aws-cdk-lib';
import { requireOrigins } from './shared-with-local-run/cors-headers.ts';
import { ISSUER } from './shared-with-local-run/issuer.ts';

/** The settings of a stage in infra/stages.ts. docs/deploying.md explains them. */
export interface Settings {
  /** The only AWS account to which the CDK CLI may deploy. Needs `region`. @default that of the credentials */
  account?: string;
  /** Where the alarms go. @default nowhere: they are only on the dashboard */
  alarms?: {
    /** Email address that receives the alarms. AWS first sends it a link to confirm. @default none */
    email?: string;
    /** URL of docs/operations.md, without `#`. @default none: the alarms name the file */
    runbookUrl?: string;
    /** True if the workflow "Smoke test" runs every hour. Adds an alarm for 3 hours without success. @default false */
    hourlySmokeTest?: boolean;
  };
  /**
   * Origins whose pages can read the responses (CORS), such as `https://app.example.com`, or only `*`. @default none
   */
  allowOrigins?: string[];
  /**
   * Creates the role with which API Gateway writes the logs of this account and region, except for an ephemeral stage.
   * @default true
   */
  cloudWatchRole?: boolean;
  /** A custom host name, with exactly one of the other two. @default the host name of API Gateway */
  domain?: {
    name: string;
    /** The id of its hosted zone in Route 53, in which the stack creates the certificate's record and its own. */
    hostedZoneId?: string;
    /** The ARN of an issued certificate of ACM, in the region of the API, for a domain with DNS elsewhere. */
    certificateArn?: string;
  };
  /**
   * True if `cdk destroy` deletes the stack with its data and logs. Releases have no canary, and there is no access log.
   * @default false
   */
  ephemeral?: boolean;
  /** The issuer of the JWTs that the API accepts beside its own tokens. @default none: JWTs are rejected */
  identityProvider?: {
    /** The claim `iss`, an https URL. */
    issuer: string;
    /** The claim `aud` must contain one of them. They are without commas. */
    audiences: [string, ...string[]];
    /** A scope (or, from Entra ID, an app role) that each JWT must have. @default none */
    scope?: string;
  };
  /** The AWS region. Needs `account`. Commands with `--stack` still use AWS_REGION. @default AWS_REGION */
  region?: string;
  /** Requests per second that each method accepts. The burst limit is twice this number. @default 100 */
  requestsPerSecond?: number;
  /** Limits the rate of each address with AWS WAF, which costs money (docs/deploying.md). @default false */
  webAcl?: boolean;
}

/** The settings of a stage with the defaults, and those of the command line. */
export interface CompleteSettings extends Settings {
  /** The stage's name. */
  stage: string;
  allowOrigins: string[];
  cloudWatchRole: boolean;
  ephemeral: boolean;
  requestsPerSecond: number;
  webAcl: boolean;
  /** True to move all traffic to the new version at once. */
  withoutCanary: boolean;
}

/**
 * Returns the settings of the stage that `-c stage=NAME` or else cdk.json selects.
 *
 * @throws for a missing or unknown stage, another key after `-c`, and wrong values that neither TypeScript nor AWS rejects
 */
export function readSettings(app: App, stages: Record<string, Settings>): CompleteSettings {
  const { stage, withoutCanary, ...others }: Record<string, unknown> = app.node.getAllContext();
  // CDK's own keys contain a colon, an at sign or a slash, except these.
  const ofCdk = /^(?!stage|withoutCanary).*[:@/]|^(acknowledged-issue-numbers|cli-telemetry)$/;
  const unknown = Object.keys(others).find((key) => !ofCdk.test(key));
  if (unknown !== undefined) {
    // A mistyped `stage` must not deploy the stage of cdk.json.
    throw new Error(`The key "${unknown}" after -c does not exist; it must be stage or withoutCanary.`);
  }
  if (withoutCanary !== undefined && String(withoutCanary) !== 'true') {
    throw new Error(`withoutCanary was "${withoutCanary}"; set it to true, or leave it out.`);
  }
  const known = Object.keys(stages).join(', ');
  if (stage === undefined) throw new Error(`cdk.json has no stage; add -c stage=NAME with one of ${known}.`);
  const settings = Object.hasOwn(stages, String(stage)) ? stages[String(stage)] : undefined;
  if (!settings) {
    throw new Error(`The stage "${stage}" is not in infra/stages.ts; it must be one of ${known}.`);
  }
  return withDefaults(String(stage), settings, withoutCanary !== undefined);
}

/**
 * Adds the defaults to the settings of a stage.
 *
 * @throws for a wrong name of the stage, and for a setting with a wrong form
 */
export function withDefaults(stage: string, settings: Settings, withoutCanary = false): CompleteSettings {
  if (!/^[a-z][a-z0-9-]{0,30}$/i.test(stage)) {
    throw new Error(
      `The stage "${stage}" must begin with a letter, after which up to 30 letters, digits or hyphens may follow.`,
    );
  }
  requireForms(stage, settings);
  requireOrigins(`The setting allowOrigins of the stage "${stage}"`, settings.allowOrigins ?? []);
  return {
    allowOrigins: [],
    cloudWatchRole: true,
    ephemeral: false,
    requestsPerSecond: 100,
    webAcl: false,
    ...settings,
    stage,
    withoutCanary,
  };
}

/** Checks texts and numbers: the compiler checks only their types, and AWS rejects a wrong one late or not at all. */
function requireForms(stage: string, settings: Settings): void {
  const { account, region, requestsPerSecond, alarms, domain } = settings;
  const { issuer, audiences, scope } = settings.identityProvider ?? {};
  const apiRegion = region ?? 'the region of the API';
  const certificate = new RegExp(`^arn:[a-z-]+:acm:${region ?? '[a-z0-9-]+'}:\\d{12}:certificate/[\\w-]+$`);
  const forms: [name: string, value: string | number | string[] | undefined, form: RegExp, expected: string][] = [
    ['account', account, /^\d{12}$/, 'the 12 digits of an AWS account'],
    ['region', region, /^[a-z]+(-[a-z]+)+-\d+$/, 'an AWS region such as eu-west-1'],
    ['requestsPerSecond', requestsPerSecond, /^[1-9]\d*$/, 'an integer of at least 1'],
    ['alarms.email', alarms?.email, /^[^\s@:,;<>]+@[\w-]+(\.[\w-]+)+$/, 'one email address'],
    // The link of each alarm adds a fragment.
    ['alarms.runbookUrl', alarms?.runbookUrl, /^https?:\/\/[\w.-]+(:\d+)?(\/[^\s#<>]*)?$/, 'a full URL without #'],
    ['domain.name', domain?.name, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'a host name in lower case'],
    ['domain.hostedZoneId', domain?.hostedZoneId, /^Z[A-Z0-9]+$/, 'an id such as Z0123456789ABC'],
    ['domain.certificateArn', domain?.certificateArn, certificate, `the ARN of a certificate in ${apiRegion}`],
    ['identityProvider.issuer', issuer, ISSUER, 'an https URL without ? and #'],
    // An empty scope would be no scope, and a comma would split an audience. The function would accept more tokens.
    ['identityProvider.audiences', audiences, /^[^\s,]+$/, 'a text without spaces and commas'],
    ['identityProvider.scope', scope, /^[^\s,]+$/, 'a text without spaces and commas'],
  ];
  for (const [name, setting = [], form, expected] of forms) {
    const wrong = [setting].flat().find((value) => !form.test(String(value)));
    if (wrong === undefined) continue;
    throw new Error(`The setting ${name} of the stage "${stage}" was "${wrong}"; it must be ${expected}.`);
  }
  if (domain && (domain.hostedZoneId === undefined) === (domain.certificateArn === undefined)) {
    throw new Error(`The setting domain of the stage "${stage}" must have hostedZoneId or certificateArn, not both.`);
  }
  if ((account === undefined) !== (region === undefined)) {
    throw new Error(`The stage "${stage}" has one of the settings account and region; it must have both or neither.`);
  }
}
