/**
 * Everything of the app that a feature may import, besides the entries of the core. A major version never removes an export
 * (docs/upgrading.md), so this file exports only the parts that features use.
 */

// The definition of a feature, and its settings.

export type { Config } from '../settings/config.ts'
export * as field from '../settings/fields.ts'
export type { ConfigError, Environment, SettingsOf } from '../settings/read.ts'
export type {
  CheckContext,
  Feature,
  FeatureDeps,
  FeatureParts,
  Finding,
  Part,
  PathOf,
  ToolOf,
  Tools,
  UserData,
} from './feature.ts'

// The user and the connection of a request.

export { connectionRef } from './pages/connection-guard.ts'
export { type ConnectionJson, nameOf } from './pages/connection-view.ts'
export { isCustomerView, showDeveloperPages } from './pages/customer-view.ts'
export { currentUser, requireUser, signIn, type User } from './sign-in/user.ts'

// Answers as a page or as JSON, and errors of a request.

export { format } from './pages/format.ts'
export { sendVersion } from './pages/live.ts'
export type { PageSection } from './pages/pages.ts'
export { badInput, WebError } from './requests/errors.ts'
export { returnToField, switchField, textField } from './requests/form-fields.ts'
export { problemOf } from './requests/problem.ts'
export { rejectForm } from './requests/rejected-form.ts'
export { sendPageOrJson, sendResultOrRedirect, wantsJson } from './requests/respond.ts'
export { texts as webTexts } from './texts.ts'

// Paged lists of the platform.

export { listPages } from './pages/list-pages.ts'
export { type ListFields, pageQuery } from './pages/paging.ts'

// For a feature's command with a server of its own.

export { healthRoutes, readiness } from './requests/health.ts'
export { recordFailure } from './requests/problem.ts'
export { noteMount, onRequest, requestLog } from './requests/request-log.ts'
export { securityHeaders } from './requests/security-headers.ts'
