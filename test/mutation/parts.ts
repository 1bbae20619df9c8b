/** A part of the project that is mutated on its own. */
export interface Part {
  name: string;
  /** The sources that are mutated, as glob patterns from the project's root. */
  sources: string[];
  /** The tests that must notice a mutant. */
  tests: string[];
  /** The least share of mutants that the tests must notice, in percent. */
  least: number;
  /** How long the whole part takes on two cores; for the long ones, reckoned from a sample. */
  minutes: number;
  /**
   * `perTest`: a mutant is run by those tests alone that reach it. `off`: by all, which also notices what a test
   * reaches in a process of its own, or through what an earlier test has made.
   */
  coverage: 'perTest' | 'off';
}

/** First what decides who gets in and what is written. */
export const PARTS: Part[] = [
  {
    name: 'functions',
    sources: ['functions/**/*.{ts,mts}'],
    // What a generated validator says is tested where it is generated.
    tests: ['functions/**/*.test.ts', 'scripts/generate.test.ts'],
    least: 95,
    minutes: 20,
    coverage: 'perTest',
  },
  {
    name: 'tokens',
    sources: ['operate/{access-tokens,restore-plants,restore,table,token}.ts'],
    tests: ['operate/{access-tokens,restore-plants,restore,table,token}.test.ts'],
    least: 95,
    minutes: 2,
    coverage: 'perTest',
  },
  {
    name: 'infra',
    // What stands in the bundle would bring Stryker's own code into it, whose size and text are tested.
    sources: ['infra/**/!(node-builtins).ts'],
    // CDK's own rules take seconds to load, and know nothing of what this stack is for.
    tests: ['infra/**/!(cdk-rules).test.ts'],
    least: 90,
    minutes: 52,
    coverage: 'off',
  },
  {
    name: 'gateway',
    sources: ['local/{event,gateway,graceful-close,rest-api,template}.ts'],
    tests: ['local/{event,gateway,graceful-close,rest-api,template}.test.ts'],
    least: 90,
    minutes: 17,
    coverage: 'perTest',
  },
  {
    name: 'lambda',
    sources: ['local/{deploy,lambda,lambda-worker}.ts'],
    tests: ['local/{deploy,lambda}.test.ts'],
    least: 90,
    minutes: 11,
    coverage: 'off',
  },
  {
    name: 'service',
    sources: ['local/{dynamodb,reference-page,service}.ts'],
    tests: ['local/{dynamodb,reference-page,service}.test.ts'],
    least: 90,
    minutes: 29,
    coverage: 'perTest',
  },
  {
    name: 'start',
    sources: ['local/{development-token,invoke,preload-app,start,synthesize}.ts'],
    tests: ['local/{invoke,start,synthesize}.test.ts'],
    least: 90,
    minutes: 18,
    coverage: 'off',
  },
  {
    name: 'smoke',
    sources: ['operate/smoke.ts', 'operate/smoke/*.ts', 'operate/client.ts'],
    tests: ['operate/{client,smoke}.test.ts', 'operate/smoke/*.test.ts'],
    least: 90,
    minutes: 40,
    coverage: 'perTest',
  },
  {
    name: 'load',
    sources: ['operate/{load,load-plants}.ts'],
    tests: ['operate/{load,load-plants}.test.ts'],
    least: 90,
    minutes: 3,
    coverage: 'perTest',
  },
  {
    name: 'command',
    sources: ['operate/command.ts'],
    tests: ['operate/command.test.ts'],
    least: 90,
    minutes: 2,
    coverage: 'off',
  },
  {
    name: 'scripts',
    // The browser lane tests what opens a browser.
    sources: ['scripts/**/!(chromium|screenshot).ts'],
    tests: ['scripts/**/*.test.ts'],
    least: 90,
    minutes: 5,
    coverage: 'perTest',
  },
];
