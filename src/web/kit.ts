/**
 * Everything of the app that a feature imports, besides the entries of the core. Nothing is removed from it within a major
 * version (docs/upgrading.md), so it has only what features use.
 */

// What a feature is, and its settings.

export type { Config } from '../config.ts'
export * as field from '../settings/fields.ts'
export type { ConfigError, Environment, SettingsOf } from '../settings/read.ts'
export type {
  CheckContext,
  Feature,
  FeatureDeps,
  FeatureParts,
  Finding,
  Gauge,
  PathOf,
  ToolOf,
  Tools,
} from './feature.ts'
export { noteMount, type Part } from './mount.ts'

// Who is asking, and about which connection.

export { connectionRef } from './connection-guard.ts'
export { type ConnectionJson, nameOf } from './connection-view.ts'
export { showDeveloperPages } from './customer-view.ts'
export { currentUser, requireUser, signIn, type User } from './user.ts'

// An answer, as a page or as JSON, and what is wrong with a request.

export { badInput, WebError } from './errors.ts'
export { returnToField, switchField, textField } from './form-fields.ts'
export { format } from './format.ts'
export { sendVersion } from './live.ts'
export { assets, type PageSection, pages } from './pages.ts'
export { problemOf } from './problem.ts'
export { rejectForm } from './rejected-form.ts'
export { sendOnward, sendPageOrJson, sendResultOrRedirect, wantsJson } from './respond.ts'
export { texts as webTexts } from './texts.ts'

// Lists of the platform, page by page.

export { listPages } from './list-pages.ts'
export { type ListFields, pageQuery } from './paging.ts'

// For a command of a feature, and for a server of its own.

export { createStore } from './create-store.ts'
export { healthRoutes, readiness } from './health.ts'
export { recordFailure } from './problem.ts'
export { onRequest, requestLog } from './request-log.ts'
export { securityHeaders } from './security-headers.ts'
