import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { StackSettings } from '../settings.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { Monitored } from './monitored.ts';
import { SavedQueries } from './queries.ts';
import { RequestMetrics } from './request-metrics.ts';

type MonitoringProps = Monitored & Pick<StackSettings, 'alarmEmail'>;

/** Metrics of the requests, alarms, a dashboard and saved queries. */
export class Monitoring extends Construct {
  /** Receives all alarms. */
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const requestMetrics = new RequestMetrics(this, 'RequestMetrics', props);
    const alarms = new Alarms(this, 'Alarms', { ...props, requestMetrics });
    new ServiceDashboard(this, 'Dashboard', { ...props, requestMetrics, alarms: alarms.all });
    new SavedQueries(this, 'Queries', props);
    this.topic = alarms.topic;
  }
}
