/** Where the daemon serves what. The only place that knows its routes, but for `me`, which index.html preloads. */
import type { ReportFormat } from '../../domain/review.ts'

const part = encodeURIComponent

export const paths = {
  me: '/v1/me',
  events: '/v1/events',
  session: '/v1/session',
  sso: '/v1/sso',
  status: '/v1/status',
  brake: '/v1/brake',
  overrideGroup: '/v1/brake/override',
  simulation: '/v1/simulation',
  hosts: '/v1/hosts',
  segments: '/v1/segments',
  readiness: '/v1/readiness',
  host: (host: string): string => `/v1/hosts/${part(host)}`,
  hostReadiness: (host: string): string => `/v1/hosts/${part(host)}/readiness`,
  verdicts: (host: string): string => `/v1/verdicts?host=${part(host)}&limit=50`,
  returnHost: (host: string): string => `/v1/hosts/${part(host)}/return`,
  incidents: (filter: Record<string, string>): string => `/v1/incidents?${new URLSearchParams(filter).toString()}`,
  incident: (id: string): string => `/v1/incidents/${part(id)}/review?lists=columns`,
  comparison: (first: string, second: string): string => `/v1/incidents/${part(first)}/diff/${part(second)}`,
  instance: (incident: string, id: string): string => `/v1/incidents/${part(incident)}/instances/${part(id)}`,
  incidentAct: (id: string, act: 'again' | 'override' | 'cancel' | 'start' | 'notes' | 'sign-off'): string =>
    `/v1/incidents/${part(id)}/${act}`,
  instanceRecord: (id: string): string => `/v1/instances/${part(id)}/record`,
  search: (text: string): string => `/v1/search?q=${part(text)}`,
  report: (id: string, format: ReportFormat): string => `/v1/incidents/${part(id)}/report?format=${format}`,
  recover: '/v1/recover',
  pause: '/v1/pause',
  resume: '/v1/resume',
  maintenance: '/v1/maintenance',
  withdrawMaintenance: '/v1/maintenance/withdraw',
  endMaintenance: '/v1/maintenance/end',
  notices: (query: Record<string, string>): string => `/v1/notices?${new URLSearchParams(query).toString()}`,
  testReceiver: '/v1/notices/test',
  plans: '/v1/plans',
  plan: (id: string): string => `/v1/plans/${part(id)}`,
  journal: (query: Record<string, string>): string => `/v1/journal?${new URLSearchParams(query).toString()}`,
  verify: '/v1/journal/verify',
}
