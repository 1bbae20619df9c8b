/* PROPERTY_RUNS=10000 runs each property test 10,000 times; fast-check's default is 100. */

const runs = process.env['PROPERTY_RUNS'];
if (runs !== undefined) {
  // Not imported otherwise: it would slow down each test file.
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ numRuns: Number(runs) });
}
