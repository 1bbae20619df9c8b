import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Api } from '../api/api.ts';
import type { OperationFunction } from '../function/operation-function.ts';
import type { Release } from '../release/release.ts';
import type { StackContext } from '../settings.ts';
import type { NamedTable } from '../tables.ts';
import { Alarms } from './alarms.ts';
import { addDashboard } from './dashboard.ts';
import { addQueries } from './queries.ts';
import { Outcomes } from './request-metrics.ts';

/** What is watched, and who is told. */
export interface Watched extends Pick<StackContext, 'alarmEmail'> {
  tables: NamedTable[];
  functions: OperationFunction[];
  releases: Release[];
  api: Api;
}

/**
 * What shows how the service does: outcomes counted from the logs, alarms, a dashboard named after the
 * stack and its region, saved queries.
 *
 * Defaults: nobody is mailed until an address is given.
 */
export class Monitoring extends Construct {
  /** Where all alarms go. */
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    const outcomes = new Outcomes(this, 'Outcomes', watched);
    const alarms = new Alarms(this, 'Alarms', watched, outcomes);
    addDashboard(new Construct(this, 'Dashboard'), watched, outcomes, alarms.all);
    addQueries(new Construct(this, 'Queries'), watched);
    this.topic = alarms.topic;
  }
}
