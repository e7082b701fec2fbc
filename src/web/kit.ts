/**
 * Everything of the app that a feature imports, beside the entries of the core. Within a major version, nothing is taken out of
 * it (docs/upgrading.md), so it has only what features use.
 */

// What a feature is, and its settings.
export type { Config } from '../config.ts'
export * as field from '../settings/fields.ts'
export type { ConfigError, Environment, SettingsOf } from '../settings/read.ts'
// Forms, files, and what is wrong with them.
// For a command of a feature, and for a server of its own.
export { bodyDeadline, UPLOAD_MS } from './body-deadline.ts'

// Who is asking, and about which connection.
export type { ConnectionView } from './connection-view.ts'
export { connectionRef } from './connections.ts'
export { createStore } from './create-store.ts'
export { csrfProtection } from './cross-site.ts'
export { badInput, errorHandler, notFound, problemOf, rejectForm, sentencesOf, WebError } from './errors.ts'
export type { Feature, FeatureDeps, FeatureParts } from './feature.ts'
// An answer, as a page or as JSON.
export { format } from './format.ts'
export { healthRoutes, readiness } from './health.ts'
// Lists of the platform, page by page.
export { listPages } from './list-pages.ts'
export { forgetUserNotice, leaveUserNotice, type UserNotice } from './notice.ts'
export { READ_ERRORS } from './openapi.ts'
export type { PageSection } from './pages.ts'
export { assets, pages } from './pages.ts'
export { type ListFields, listQuery, pageOfSchema, pageQuery } from './paging.ts'
export { onRequest, requestLog } from './request-log.ts'
export { sendOnward, sendPageOrJson, sendResultOrRedirect, wantsJson } from './respond.ts'
export { localPath } from './return-to.ts'
export { securityHeaders } from './security-headers.ts'
export type { SendChanges } from './sse.ts'
export { textField } from './text-field.ts'
export { texts as webTexts } from './texts.ts'
// What tools need of it: the doctor, the demo, the metrics.
export type {
  CheckContext,
  CheckTool,
  Contract,
  Finding,
  Gauge,
  GaugesTool,
  Probe,
  ProbeAnswer,
  ProbeTool,
  ReceivedRequest,
  RecordsCheck,
} from './tools.ts'
export { currentUser, requireUser, signIn, type User } from './user.ts'
