import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Vitest begins with the longest, but most mutants are noticed soon: the short ones come first. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toReversed();
  }
}

/** The tests of a part, in one process a mutant. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]'),
    sequence: { sequencer: ShortestFirst },
    // CDK is loaded once for all tests of infra/, as in `npm test`.
    isolate: process.env['MUTATION_PART'] !== 'infra',
    setupFiles: 'test/mutation/setup.ts',
    globalSetup: 'test/support/synthesize-once.ts',
    env: { CDK_VALIDATION: 'false' },
    provide: { engine: 'dynalite' },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
