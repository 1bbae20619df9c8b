import { startEngine } from './engine.ts';
import { startService } from './service.ts';

/** The service as it is deployed by default, on an engine of its own. */
export async function startOwnService() {
  const engine = await startEngine();
  const service = await startService(engine.template, engine);
  return {
    engine,
    url: service.url,
    close: async () => {
      await service.close();
      await engine.close();
    },
  };
}

export type OwnService = Awaited<ReturnType<typeof startOwnService>>;
