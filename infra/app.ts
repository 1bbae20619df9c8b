import { stages } from './stages.ts';
import { synthesizeStage } from './synthesize-stage.ts';

process.exitCode = synthesizeStage(stages);
