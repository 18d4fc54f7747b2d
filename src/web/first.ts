/**
 * The pages begin here: with what this page asks first, on its way before their script is read, so nothing large may come in
 * here. Who takes the answers is api/early.ts. (A preload in the HTML could not know the page, and its answer could not be
 * dropped: after a login the refusal from before it would be taken for the answer.)
 */
import { askEarly } from './api/early.ts'
import { firstQuestions } from './api/first-questions.ts'
import { applyTheme, keptTheme } from './parts/theme.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/tables.css'
import './styles/acts.css'
import './styles/incident.css'
import './styles/pages.css'
import './styles/narrow.css'
import './styles/print.css'

askEarly(firstQuestions(location.pathname + location.search))
void import('./main.tsx')
// While that is read: asking for what the browser keeps waits for another process.
applyTheme(keptTheme())
