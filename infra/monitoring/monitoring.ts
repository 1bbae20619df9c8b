import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Api } from '../api.ts';
import type { NamedTable } from '../data.ts';
import type { Release } from '../release.ts';
import { Alarms } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import { DatabaseMetrics } from './database-metrics.ts';
import { Outcomes } from './outcomes.ts';
import { Queries } from './queries.ts';

interface MonitoringProps {
  tables: NamedTable[];
  releases: Release[];
  api: Api;
  alarmEmail: string | undefined;
}

/**
 * What shows how the service does: outcomes counted from the logs, alarms, a dashboard named after the
 * stack and its region, saved queries. A release goes back on the alarms that show it to be bad.
 *
 * Defaults: nobody is mailed until an address is given.
 */
export class Monitoring extends Construct {
  /** Where all alarms go. */
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, { tables, releases, api, alarmEmail }: MonitoringProps) {
    super(scope, id);
    const { restApi, accessLog } = api;
    const functions = releases.map((release) => release.function);
    const outcomes = new Outcomes(this, 'Outcomes', { functions, accessLog });
    const operations = functions.map(({ operation }) => operation);
    const watched = { functions, restApi, accessLog, outcomes, database: new DatabaseMetrics(tables, operations) };
    const alarms = new Alarms(this, 'Alarms', { ...watched, releases, email: alarmEmail });
    new Dashboard(this, 'Dashboard', { ...watched, alarms: alarms.all });
    new Queries(this, 'Queries', watched);
    this.topic = alarms.topic;
  }
}
