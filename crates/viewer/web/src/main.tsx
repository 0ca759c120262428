import { render } from "preact";
import { App } from "./page/App";
import { addressParts } from "./page/addressParts";
import { EmbeddedSource, isEmbedded } from "./source/embedded";
import { HttpSource } from "./source/http";
import { StoreContext } from "./state/context";
import { Store } from "./state/store";
import { followTheme } from "./state/theme";
import { followAddress } from "./state/url";
import "./styles/theme.css";
import "./styles/page.css";
import "./styles/parts.css";
import "./styles/menu.css";
import "./styles/header.css";
import "./styles/query.css";
import "./styles/details.css";
import "./styles/values.css";
import "./styles/measures.css";
import "./sequence/sequence.css";
import "./services/services.css";
import "./styles/overview.css";
import "./styles/statistics.css";
import "./styles/compare.css";
import "./objects/objects.css";
import "./objects/members.css";
import "./objects/form.css";

const place = document.getElementById("page");
if (place === null) throw new Error('the document has no element with the id "page"');
const store = new Store(isEmbedded() ? new EmbeddedSource() : new HttpSource());
followTheme(store.page, document.documentElement);
followAddress(store, addressParts(store));
// Loading starts before the first rendering, so that both run at the same time.
void store.load();
render(
  <StoreContext.Provider value={store}>
    <App />
  </StoreContext.Provider>,
  place,
);
