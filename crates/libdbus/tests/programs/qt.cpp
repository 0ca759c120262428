/* A service and its caller with QtDBus. `caller serve` is the service; `caller [time COUNT]` starts it. The caller
 * checks results and their order, and prints the number of lanes and of routed messages. */

#include <QtCore/QCoreApplication>
#include <QtCore/QElapsedTimer>
#include <QtCore/QProcess>
#include <QtCore/QTimer>
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusError>
#include <QtDBus/QDBusInterface>
#include <QtDBus/QDBusMessage>
#include <QtDBus/QDBusPendingCallWatcher>
#include <QtDBus/QDBusPendingReply>
#include <QtDBus/QDBusReply>
#include <cstdio>
#include <cstdlib>

static const QString NAME = QStringLiteral("org.example.Lanes");

static void check(bool condition, const char *what, const QString &found = QString()) {
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, qPrintable(found));
    exit(1);
}

class Service : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.example.Lanes")
    Q_PROPERTY(QString Text MEMBER text)

    QString text = QStringLiteral("none");

public slots:
    qulonglong Echo(qulonglong number) { return number; }
    qulonglong Announce(qulonglong number) {
        emit Announced(number);
        return number;
    }
    QStringList Reversed(const QStringList &texts) {
        QStringList reversed;
        for (const QString &text : texts)
            reversed.prepend(text);
        return reversed;
    }
    void Quit() { QTimer::singleShot(10, qApp, &QCoreApplication::quit); }

signals:
    void Announced(qulonglong number);
};

class Caller : public QObject {
    Q_OBJECT

    QDBusConnection bus = QDBusConnection::sessionBus();
    QDBusInterface service{NAME, "/", NAME, bus};
    QList<qulonglong> announced;

public:
    Caller() {
        bool connected = bus.connect(NAME, "/", NAME, "Announced", this, SLOT(receive(qulonglong)));
        check(connected, "the signal is not connected");
    }

    void call(int count) {
        for (int number = 0; number < count; number++) {
            QDBusReply<qulonglong> reply = service.call("Echo", qulonglong(number));
            check(reply.isValid(), "Echo", reply.error().message());
            check(reply.value() == qulonglong(number), "another reply");
        }
    }

    /* Starts all calls, and runs the event loop until all have their replies. */
    void callAtOnce(int count) {
        QList<qulonglong> got;
        for (int number = 0; number < count; number++) {
            QDBusPendingCall pending = service.asyncCall("Echo", qulonglong(number));
            auto *watcher = new QDBusPendingCallWatcher(pending, this);
            connect(watcher, &QDBusPendingCallWatcher::finished, this, [&got, watcher] {
                QDBusPendingReply<qulonglong> reply = *watcher;
                check(reply.isValid(), "Echo", reply.error().message());
                got.append(reply.value());
                watcher->deleteLater();
            });
        }
        while (got.size() < count)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        for (int number = 0; number < count; number++)
            check(got[number] == qulonglong(number), "replies in another order");
    }

    /* Each signal arrives before the reply that the service sent after it. */
    void announce(int count) {
        for (int number = 0; number < count; number++) {
            QDBusPendingCallWatcher watcher(service.asyncCall("Announce", qulonglong(number)));
            bool replied = false;
            connect(&watcher, &QDBusPendingCallWatcher::finished, this, [&] {
                check(announced.size() == number + 1, "a reply before the signal");
                replied = true;
            });
            while (!replied)
                QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
    }

    void useOtherTypes() {
        QDBusReply<QStringList> reversed = service.call("Reversed", QStringList{"a", "b", "c"});
        check(reversed.value() == QStringList({"c", "b", "a"}), "Reversed");
        check(service.setProperty("Text", "changed"), "the property cannot be set");
        check(service.property("Text").toString() == "changed", "the property has not changed");
        QDBusMessage failed = service.call("Missing");
        check(failed.type() == QDBusMessage::ErrorMessage, "Missing");
        printf("%s: %s\n", qPrintable(failed.errorName()), qPrintable(failed.errorMessage()));
    }

    void printStatistics() {
        QDBusMessage call = QDBusMessage::createMethodCall(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
            "GetStats");
        QDBusReply<QVariantMap> statistics = bus.call(call);
        check(statistics.isValid(), "GetStats", statistics.error().message());
        printf("lanes %u messages %u\n", statistics.value()["org.diligence.Lanes"].toUInt(),
               statistics.value()["org.diligence.Messages"].toUInt());
    }

    void quit() { service.call("Quit"); }

private slots:
    void receive(qulonglong number) { announced.append(number); }
};

static int serve() {
    Service service;
    QDBusConnection bus = QDBusConnection::sessionBus();
    auto exported = QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals |
                    QDBusConnection::ExportAllProperties;
    check(bus.registerObject("/", &service, exported), "no object");
    check(bus.registerService(NAME), "no name", bus.lastError().message());
    puts("ready");
    fflush(stdout);
    return QCoreApplication::exec();
}

int main(int argc, char **argv) {
    QCoreApplication application(argc, argv);
    QStringList arguments = application.arguments();
    if (arguments.value(1) == "serve")
        return serve();
    QProcess server;
    server.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    server.start(application.applicationFilePath(), {"serve"});
    check(server.waitForReadyRead(), "no service", server.errorString());
    Caller caller;
    caller.call(100);
    if (arguments.value(1) == "time") {
        int count = arguments.value(2).toInt();
        QElapsedTimer timer;
        timer.start();
        caller.call(count);
        printf("%.1f us\n", double(timer.nsecsElapsed()) / 1000 / count);
    } else {
        caller.printStatistics();
        caller.call(300);
        caller.callAtOnce(300);
        caller.printStatistics();
        caller.announce(100);
        caller.useOtherTypes();
        caller.printStatistics();
    }
    caller.quit();
    check(server.waitForFinished(), "the service does not end");
    check(server.exitCode() == 0, "the service failed");
    puts("OK");
    return 0;
}

#include "qt.moc"
