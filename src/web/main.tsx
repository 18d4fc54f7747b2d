/** The pages begin here, in the theme that the browser keeps. */
import { render } from 'preact'
import { App } from './app.tsx'
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

applyTheme(keptTheme())

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
