import { App } from 'aws-cdk-lib';
import { readContext } from './context.ts';
import { PlantStoreStack } from './plant-store-stack.ts';

try {
  const app = new App();
  const { throwaway } = readContext(app);
  // A name of its own: deployed over the lasting stack, it would unprotect that stack's data.
  new PlantStoreStack(app, throwaway ? 'PlantStoreThrowaway' : 'PlantStore', { throwaway });
  app.synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
